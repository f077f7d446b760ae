"""Orders of unsigned numbers that are symbols, where one may be below zero as an integer: `i < n - 1` with `n = 0`.

Property: `ordered` is the truth of the comparison for all numbers that its atoms may be read as, wrapped or not.

Argument: linear forms are read as integers (`lane_arithmetic`), and each atom in them as the number that is meant.
Where a form subtracts, the integer may be below zero, and the unsigned number is then larger than any that is not:
`a < b` is `a < b` of the integers where neither or both are below zero, else whether it is `b` that is.

Not covered: sums that are larger than their type holds. That a number is compared as a signed one somewhere else is
seen by who decides (`readings`).
"""

from __future__ import annotations

from ....opcodes.op import Op
from .lane_arithmetic import ORDERS, compare, logic, negate
from .symbol import Form, Value


def ordered(relation: str, a: Value, b: Value, width: int) -> Value:
    """Return the truth of an order of two unsigned numbers."""
    has_symbols = isinstance(a, Form) and isinstance(b, Form)
    if not (has_symbols and any(map(_may_be_below_zero, (a, b)))):
        return compare(relation, a, b, width, signed_operands=False)
    swapped, is_less = ORDERS[relation]
    truth = _is_less(b, a, width) if swapped else _is_less(a, b, width)
    return truth if is_less else negate(truth)


def _is_less(left: Value, right: Value, width: int) -> Value:
    left_is, right_is = (
        compare(".lo", each, 0, width, signed_operands=True) if _may_be_below_zero(each) else 0
        for each in (left, right)
    )
    less = compare(".lo", left, right, width, signed_operands=True)
    left_is_not = negate(left_is)
    among_equals = logic(Op.AND, less, logic(Op.OR, right_is, left_is_not))
    return logic(Op.OR, logic(Op.AND, right_is, left_is_not), among_equals)


def _may_be_below_zero(value: Value) -> bool:
    """Tell whether a form of numbers that are none of them below zero may be."""
    return isinstance(value, Form) and (value.constant < 0 or any(factor < 0 for _, factor in value.terms))
