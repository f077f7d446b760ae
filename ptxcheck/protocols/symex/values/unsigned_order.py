"""Orders of unsigned numbers that are symbols, where one may be below zero as an integer: `i < n - 1` with `n = 0`.

Property: `ordered` is the truth of the comparison for all numbers that its atoms may be read as, wrapped or not.

Argument: linear forms are read as integers (`lane_arithmetic`), and each atom in them as the number that is meant.
Where a form subtracts, the integer may be below zero, and the unsigned number is then larger than any that is not:
`a < b` is `a < b` of the integers where neither or both are below zero, else whether it is `b` that is.

Not covered: sums that are larger than their type holds.
"""

from __future__ import annotations

from ....opcodes.op import Op
from .lane_arithmetic import ORDERS, bitwise, compare, negate
from .symbol import Form, Value


def ordered(relation: str, a: Value, b: Value, width: int) -> Value:
    """Return the truth of an order of two unsigned numbers."""
    first, second = _may_be_below_zero(a), _may_be_below_zero(b)
    if not (isinstance(a, Form) and isinstance(b, Form) and (first or second)):
        return compare(relation, a, b, width, signed_operands=False)
    swapped, is_less = ORDERS[relation]
    left, right = (b, a) if swapped else (a, b)
    if swapped:
        first, second = second, first
    truth = _is_less(left, right, first, second, width)
    return truth if is_less else negate(truth)


def _is_less(left: Value, right: Value, left_may: bool, right_may: bool, width: int) -> Value:
    less = compare(".lt", left, right, width, signed_operands=True)
    left_is = compare(".lt", left, 0, width, signed_operands=True) if left_may else 0
    right_is = compare(".lt", right, 0, width, signed_operands=True) if right_may else 0
    among_equals = _both(less, _either(right_is, negate(left_is)))
    return _either(_both(right_is, negate(left_is)), among_equals)


def _may_be_below_zero(value: Value) -> bool:
    """Tell whether a form of numbers that are none of them below zero may be."""
    return isinstance(value, Form) and (value.constant < 0 or any(factor < 0 for _, factor in value.terms))


def _both(a: Value, b: Value) -> Value:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int):
            return other if one & 1 else 0
    return bitwise(Op.AND, a, b)


def _either(a: Value, b: Value) -> Value:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int):
            return 1 if one & 1 else other
    return bitwise(Op.OR, a, b)
