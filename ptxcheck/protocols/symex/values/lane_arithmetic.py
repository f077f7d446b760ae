"""Integer instructions on values of the SIMT machine: numbers, one number per thread, or symbols.

Property: of numbers each function gives the result of the PTX operation; of symbols a form or an atom that stands for
it, equal for equal operands.

Argument: sums and products by a number stay linear; everything else keeps its operands in the atom.

Not covered: wrap-around of linear forms, which are read as integers (`wraparound`).

Numbers are unsigned, masked to the width of the operation. An operation on symbols that is not linear gives
an opaque atom, so equal computations stay equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ....ir import Register
from ....opcodes.op import Op
from . import recurrent_arithmetic as recurrent
from .choices import arms, value_of
from .exclusive_or import joined
from .kinds import Kind
from .products import expanded
from .symbol import (
    LANE,
    WARP,
    Atom,
    Condition,
    Form,
    Lanes,
    Value,
    atom,
    plus,
    times,
)

_ALL64 = (1 << 64) - 1
_MOST_PRODUCTS = 8
"""Most terms of a product of two sums."""


def mask_of(width: int) -> int:
    return (1 << width) - 1


def as_lanes(value: int | Lanes, threads: int) -> Lanes:
    """Return a number for each thread."""
    if isinstance(value, int):
        return np.full(threads, value & _ALL64, dtype=np.uint64)
    return value


def settle(value: Value) -> Value:
    """Return the uniform number when all threads hold the same one."""
    if not isinstance(value, np.ndarray) or not len(value) or value[0] != value[-1]:
        return value
    return value if np.count_nonzero(value != value[0]) else int(value[0])


def signed(value: int | Lanes, width: int) -> Any:
    """Return the two's complement reading of an unsigned number."""
    if isinstance(value, int):
        return value - (1 << width) if value >> (width - 1) & 1 else value
    if width == 64:
        return value.astype(np.int64)
    half = 1 << (width - 1)
    return (value ^ np.uint64(half)).astype(np.int64) - half


def unsigned(value: Any, width: int) -> int | Lanes:
    """Return a number masked to a width."""
    if isinstance(value, np.ndarray):
        return value.astype(np.uint64) & np.uint64(mask_of(width))
    return int(value) & mask_of(width)


def _each(function: Callable[..., int], *values: int | Lanes) -> int | Lanes:
    """Apply a function of Python integers to uniform numbers or lane by lane."""
    if all(isinstance(value, int) for value in values):
        return function(*values)
    length = next(len(value) for value in values if not isinstance(value, int))
    columns = [[value] * length if isinstance(value, int) else value.tolist() for value in values]
    return np.array([function(*row) & _ALL64 for row in zip(*columns, strict=True)], dtype=np.uint64)


def add(a: Value, b: Value, width: int) -> Value:
    """a + b."""
    if isinstance(a, Form) or isinstance(b, Form):
        return _linear(a, b, 1, width)
    if isinstance(a, int) and isinstance(b, int):
        return (a + b) & mask_of(width)
    return unsigned(np.add(a, b, dtype=np.uint64), width)


def subtract(a: Value, b: Value, width: int) -> Value:
    """a - b."""
    if isinstance(a, Form) or isinstance(b, Form):
        return _linear(a, b, -1, width)
    if isinstance(a, int) and isinstance(b, int):
        return (a - b) & mask_of(width)
    return unsigned(np.subtract(a, b, dtype=np.uint64), width)


def _linear(a: Value, b: Value, factor: int, width: int) -> Value:
    forms = [each for each in (a, b) if isinstance(each, Form)]
    has_lanes = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    if has_lanes and not all(map(recurrent.counts, forms)):
        return _opaque(Kind.ADD if factor == 1 else Kind.SUB, a, b, width)
    left, right = _term(a, width), _term(b, width)
    total = plus(left, right, factor)
    return _of_lanes(total, width) if isinstance(total, Form) else total & mask_of(width)


def _term(value: Value, width: int) -> Form | int:
    """Return a value as a part of a sum: the numbers of threads are one atom."""
    if isinstance(value, np.ndarray):
        return Form(((Atom((Kind.LANES, value.tobytes()), differs_of(value)), 1),))
    return value if isinstance(value, Form) else signed(value & mask_of(width), width)


def _of_lanes(total: Form, width: int) -> Value:
    """Return a sum as the numbers of threads where what rounds change has cancelled out."""
    if any(name.kind is not Kind.LANES for name, _ in total.terms):
        return total
    found = np.uint64(total.constant & _ALL64)
    for name, factor in total.terms:
        numbers = np.frombuffer(name[1], dtype=np.uint64)  # type: ignore[call-overload]
        found = found + numbers * np.uint64(factor & _ALL64)
    return unsigned(found, width)


def multiply(a: Value, b: Value, width: int) -> Value:
    """The low `width` bits of a × b."""
    if isinstance(a, Form) and isinstance(b, int):
        product = times(a, signed(b & mask_of(width), width))
        return product if isinstance(product, Form) else product & mask_of(width)
    if isinstance(b, Form) and isinstance(a, int):
        return multiply(b, a, width)
    if isinstance(a, Form) and isinstance(b, Form) and len(a.terms) * len(b.terms) <= _MOST_PRODUCTS:
        return expanded(a, b, width)
    if isinstance(a, Form) or isinstance(b, Form):
        return _opaque(Kind.MUL, a, b)
    if isinstance(a, int) and isinstance(b, int):
        return (a * b) & mask_of(width)
    return unsigned(np.multiply(a, b, dtype=np.uint64), width)


def multiply_high(a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """The high `width` bits of a × b."""
    if isinstance(a, Form) or isinstance(b, Form):
        if isinstance(a, Form) and isinstance(b, int) and width == 32 and recurrent.counts(a):
            known = recurrent.high_product(a, b)
            if known is not None:
                return known
        return _opaque(Kind.MULHI, a, b, width, int(signed_operands))

    if width == 32 and not (isinstance(a, int) and isinstance(b, int)):
        x, y = (signed(value, width) if signed_operands else value for value in (a, b))
        return unsigned(np.multiply(x, y, dtype=np.int64 if signed_operands else np.uint64) >> width, width)

    def high(x: int, y: int) -> int:
        if signed_operands:
            x, y = int(signed(x, width)), int(signed(y, width))
        return (x * y >> width) & mask_of(width)

    return _each(high, a, b)


def _opaque(name: str, *arguments: Value | str) -> Form:
    return atom(name, *(key_of(argument) for argument in arguments))


def key_of(argument: Value | str) -> object:
    """Return something hashable and printable that stands for a value in an atom."""
    if isinstance(argument, np.ndarray):
        return Atom((Kind.LANES, argument.tobytes()), differs_of(argument))
    if isinstance(argument, Form):
        if len(argument.terms) == 1 and argument.terms[0][1] == 1 and not argument.constant:
            return argument.terms[0][0]
        return Atom((Kind.SUM, argument.terms, argument.constant))
    return argument


def differs_of(value: Value) -> int:
    """Return between which threads a value may differ: bits `LANE` and `WARP`."""
    if isinstance(value, int):
        return 0
    if isinstance(value, Form):
        return value.differs
    whole = len(value) // 32 * 32
    rows = value[:whole].reshape(-1, 32)
    rest = value[whole:]
    lane = bool((rows != rows[:, :1]).any()) or bool(len(rest) and (rest != rest[0]).any())
    warp = bool(len(rows) and ((rows != rows[0]).any() or (rest != rows[0][: len(rest)]).any()))
    return LANE * lane | WARP * warp


def opaque(name: str, *arguments: Value | str, differs: int | None = None) -> Form:
    """Return the symbol of a computation that the machine does not follow."""
    return atom(name, *(key_of(argument) for argument in arguments), differs=differs)


def undefined(register: Register) -> Form:
    """Return what a register holds that was not written."""
    return opaque(Kind.UNDEFINED, register.name, register.scope)


def shift_left(a: Value, n: Value, width: int) -> Value:
    """a << n, zero when n reaches the width."""
    if isinstance(a, Form):
        return (
            multiply(a, 1 << n, width) if isinstance(n, int) and n < width else _opaque(Kind.SHL, a, n, width)
        )
    if isinstance(n, Form):
        return _opaque(Kind.SHL, a, n, width)
    if isinstance(a, int) and isinstance(n, int):
        return (a << n) & mask_of(width) if n < width else 0
    shifted = np.left_shift(a, _amount(n, width), dtype=np.uint64)
    return unsigned(np.where(np.less(n, width), shifted, 0), width)


def shift_right(a: Value, n: Value, width: int, *, arithmetic: bool) -> Value:
    """a >> n."""
    if isinstance(a, Form) or isinstance(n, Form):
        if isinstance(n, int) and n == 0:
            return a
        if isinstance(a, Form) and isinstance(n, int) and n < width:
            known = recurrent.shifted(a, n, width, arithmetic=arithmetic) if _may_count(a) else None
            if known is not None:
                return known
        return _opaque(Kind.SAR if arithmetic else Kind.SHR, a, n, width)
    if isinstance(a, int) and isinstance(n, int):
        return (signed(a, width) if arithmetic else a) >> min(n, width) & mask_of(width)
    amount = _amount(n, width)
    if arithmetic:
        return unsigned(np.right_shift(signed(a, width), amount.astype(np.int64)), width)
    return unsigned(np.where(np.less(n, width), np.right_shift(a, amount, dtype=np.uint64), 0), width)


def _may_count(a: Form) -> bool:
    """Tell whether rounds of a loop change a number, or the number that it is made of by high products."""
    return recurrent.counts(a) or all(name.kind in (Kind.MULHI, Kind.SHR) for name, _ in a.terms)


def _amount(n: int | Lanes, width: int) -> Lanes:
    """Return how far to shift, less than the width."""
    return np.minimum(np.asarray(n, dtype=np.uint64), np.uint64(width - 1))


def bitwise(op: Op, a: Value, b: Value) -> Value:
    """and, or, xor."""
    if isinstance(a, Form) or isinstance(b, Form):
        return _symbolic_bitwise(op, a, b)
    if op is Op.AND:
        return a & b if isinstance(a, int) and isinstance(b, int) else np.bitwise_and(a, b, dtype=np.uint64)
    if op is Op.OR:
        return a | b if isinstance(a, int) and isinstance(b, int) else np.bitwise_or(a, b, dtype=np.uint64)
    return a ^ b if isinstance(a, int) and isinstance(b, int) else np.bitwise_xor(a, b, dtype=np.uint64)


def _symbolic_bitwise(op: Op, a: Value, b: Value) -> Value:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int) and one == 0:
            return 0 if op is Op.AND else other
    if isinstance(a, Form) and isinstance(b, Form) and a == b:
        return 0 if op is Op.XOR else a
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Form) and isinstance(other, int) and recurrent.may_be_masked(one, other):
            known = recurrent.with_bits(op, one, other)
            if known is not None:
                return known
    parts = joined(key_of(a), key_of(b)) if op is Op.XOR else (key_of(a), key_of(b))
    kind = Kind[op.name]
    return value_of(reduce(lambda one, other: key_of(atom(kind, *sorted((one, other), key=_order))), parts))


def _order(key: object) -> bytes:
    return key.digest if isinstance(key, Atom) else repr(key).encode()


def pure(op: Op, function: Callable[..., int], arguments: Sequence[Value], *variant: int) -> Value:
    """Apply a function of integers, or give the symbol of its result; `variant` tells functions of one op apart."""
    if any(isinstance(argument, Form) for argument in arguments):
        return _opaque(Kind[op.name], *arguments, *map(int, variant))
    return _each(function, *(a for a in arguments if not isinstance(a, Form)))


def divide(a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """a / b towards zero; all bits set for a division by zero."""

    def quotient(x: int, y: int) -> int:
        if signed_operands:
            x, y = int(signed(x, width)), int(signed(y, width))
        if not y:
            return mask_of(width)
        magnitude = abs(x) // abs(y)
        return (magnitude if (x < 0) == (y < 0) else -magnitude) & mask_of(width)

    if isinstance(b, int) and b == 1:
        return a
    if isinstance(a, Form) and isinstance(b, int) and recurrent.counts(a):
        known = recurrent.quotient(a, b)
        if known is not None:
            return known
    return pure(Op.DIV, quotient, (a, b), width, signed_operands)


def remainder(a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """What a division of a by b leaves, with the sign of a; a itself for a division by zero."""

    def rest(x: int, y: int) -> int:
        if signed_operands:
            x, y = int(signed(x, width)), int(signed(y, width))
        if not y:
            return x & mask_of(width)
        magnitude = abs(x) % abs(y)
        return (-magnitude if x < 0 else magnitude) & mask_of(width)

    if isinstance(a, Form) and isinstance(b, int) and recurrent.counts(a):
        known = recurrent.rest(a, b)
        if known is not None:
            return known
    return pure(Op.REM, rest, (a, b), width, signed_operands)


def pack(width: int, parts: Sequence[Value]) -> Value:
    """Numbers of some bits each side by side, the first one lowest."""
    total: Value = 0
    for position, part in enumerate(parts):
        if isinstance(part, Form):
            return _opaque(Kind.PACK, width, *parts)
        total = add(total, multiply(unsigned(part, width), 1 << position * width, 64), 64)
    return total


def choose(condition: Value, a: Value, b: Value, threads: int) -> Value:
    """condition ? a : b, for each thread."""
    if isinstance(condition, int):
        return a if condition else b
    if isinstance(condition, Form):
        a, b = arms(a, b, key_of(condition), key_of(negate(condition)))
    if isinstance(condition, Form) or isinstance(a, Form) or isinstance(b, Form):
        is_one = not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray) and a == b
        return a if is_one else _opaque(Kind.SELP, condition, a, b)
    return np.where(condition != 0, as_lanes(a, threads), as_lanes(b, threads))


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    ".eq": lambda a, b: a == b,
    ".ne": lambda a, b: a != b,
    ".lt": lambda a, b: a < b,
    ".lo": lambda a, b: a < b,
    ".le": lambda a, b: a <= b,
    ".ls": lambda a, b: a <= b,
    ".gt": lambda a, b: a > b,
    ".hi": lambda a, b: a > b,
    ".ge": lambda a, b: a >= b,
    ".hs": lambda a, b: a >= b,
}


def compare(relation: str, a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """Return 1 or 0, for each thread, or a symbol: `cmp` of a difference, `below`, or `compare`."""
    if isinstance(a, Form) or isinstance(b, Form):
        return symbolic_comparison(relation, a, b, width, signed_operands=signed_operands)
    left, right = (signed(a, width), signed(b, width)) if signed_operands else (a, b)
    result = _RELATIONS[relation](left, right)
    return result.astype(np.uint64) if isinstance(result, np.ndarray) else int(result)


_EQUALITIES = frozenset({".eq", ".ne"})
ORDERS = {
    ".lt": (False, True), ".lo": (False, True), ".ge": (False, False), ".hs": (False, False),
    ".gt": (True, True), ".hi": (True, True), ".le": (True, False), ".ls": (True, False),
}  # fmt: skip
"""Each order as `<`: whether the sides change places, and whether it is `<` itself (True) or its negation."""
_UNSIGNED = {".lt": ".lo", ".le": ".ls", ".gt": ".hi", ".ge": ".hs"}
UNSIGNED_ORDERS = frozenset(_UNSIGNED.values())


def symbolic_comparison(relation: str, a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """Return the truth of `a relation b` as a symbol, or a number; two symbols are compared as integers."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _opaque(Kind.COMPARE, relation, a, b, width, int(signed_operands))
    if not signed_operands and relation not in _EQUALITIES and (isinstance(a, int) or isinstance(b, int)):
        return _below(relation, a, b, width)
    difference = _linear(a, b, -1, width)
    if not isinstance(difference, Form):
        return compare(relation, difference, 0, width, signed_operands=True)
    relation = relation if signed_operands else _UNSIGNED.get(relation, relation)
    return atom(Kind.CMP, relation, difference.terms, difference.constant)


def _below(relation: str, a: Value, b: Value, width: int) -> Value:
    """Unsigned order of a symbol and a number: `symbol < bound` or its negation."""
    swapped, positive = ORDERS[relation]
    left, right = (b, a) if swapped else (a, b)
    if isinstance(left, Form):
        assert isinstance(right, int)
        form, bound = left, right & mask_of(width)
    else:
        assert isinstance(right, Form)
        assert isinstance(left, int)
        form, bound, positive = right, (left & mask_of(width)) + 1, not positive
    if bound == 0 or bound > mask_of(width):
        return int(positive) if bound else int(not positive)
    truth = atom(Kind.BELOW, form.terms, form.constant, bound)
    return truth if positive else negate(truth)


_OPPOSITE = {
    ".eq": ".ne", ".ne": ".eq", ".lt": ".ge", ".ge": ".lt", ".le": ".gt", ".gt": ".le",
    ".lo": ".hs", ".hs": ".lo", ".ls": ".hi", ".hi": ".ls",
}  # fmt: skip


def negate(value: Value) -> Value:
    """Return the truth of `!p`."""
    if isinstance(value, int):
        return 1 - (value & 1)
    if isinstance(value, np.ndarray):
        return np.asarray(value == 0, dtype=np.uint64)
    if len(value.terms) == 1 and value.terms[0][1] == 1 and value.constant == 0:
        name = value.terms[0][0]
        if name.kind is Kind.CMP:
            return atom(Kind.CMP, _OPPOSITE[str(name[1])], *name[2:])
        if name.kind is Kind.NOT and isinstance(name[1], Atom):
            return Form(((name[1], 1),))
    return opaque(Kind.NOT, value)


def logic(op: Op, a: Value, b: Value) -> Value:
    """and, or, xor of predicates."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int):
            if op is Op.AND:
                return other if one & 1 else 0
            if op is Op.OR:
                return 1 if one & 1 else other
            return negate(other) if one & 1 else other
    return bitwise(op, a, b)


def condition_of(value: Form) -> tuple[Condition, bool]:
    """Return a condition, and whether the predicate is it (True) or its negation (False)."""
    if len(value.terms) == 1 and value.terms[0][1] == 1 and not value.constant:
        name = value.terms[0][0]
        if name.kind is Kind.CMP:
            relation, terms, constant = name[1:4]
            form = Form(terms, constant)  # type: ignore[arg-type]
            return _compared(str(relation), form)
        if name.kind is Kind.BELOW:
            _, terms, constant, bound = name
            return Condition("below", Form(terms, constant), bound), True  # type: ignore[arg-type]
        if name.kind is Kind.NOT and isinstance(name[1], Atom):
            condition, positive = condition_of(Form(((name[1], 1),)))
            return condition, not positive
    return Condition("ne", value, 0), True


def _compared(relation: str, form: Form) -> tuple[Condition, bool]:
    if relation in _EQUALITIES:
        return Condition("eq", form, 0), relation == ".eq"
    swapped, positive = ORDERS[relation]
    return (Condition("lt", form, 1), not positive) if swapped else (Condition("lt", form, 0), positive)
