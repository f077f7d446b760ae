"""Exact semantics of integer operations on vectors of numbers, one element a thread.

Property: for the operations in `knows`, `apply` returns what the machine computes, each element as an
unsigned number of the destination's width held in a 64-bit word. Everything else is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..opcodes.op import Op
from .compare import Relation, relation_of
from .optypes import Typing

Words: TypeAlias = npt.NDArray[np.uint64]
Comparable: TypeAlias = npt.NDArray[np.uint64] | npt.NDArray[np.int64]
Truths: TypeAlias = npt.NDArray[np.bool_]


class Call(Protocol):
    """One instruction, as the semantics see it. `value` gives numbers of a width, zero-extended."""

    @property
    def typing(self) -> Typing: ...

    @property
    def count(self) -> int: ...

    @property
    def part(self) -> int: ...

    def value(self, index: int, width: int) -> Words: ...


Handler = Callable[[Call], Words | None]


def masked(words: Words, width: int) -> Words:
    """Return the low `width` bits of each word."""
    return words if width >= 64 else words & np.uint64((1 << width) - 1)


def signed(words: Words, width: int) -> npt.NDArray[np.int64]:
    """Return the words read as signed numbers of `width` bits."""
    shift = np.int64(64 - width)
    return (words.view(np.int64) << shift) >> shift


def unsigned(numbers: npt.NDArray[np.int64], width: int) -> Words:
    return masked(numbers.view(np.uint64), width)


def _binary(function: Callable[[Words, Words], Words]) -> Handler:
    def handler(call: Call) -> Words:
        width = call.typing.width
        return masked(function(call.value(1, width), call.value(2, width)), width)

    return handler


def _product(call: Call) -> Words | None:
    typing, width = call.typing, call.typing.width
    a, b = call.value(1, width), call.value(2, width)
    if typing.has(".hi"):
        return None if width > 32 else _high(a, b, width, typing.signed)
    if not typing.has(".wide"):
        return masked(a * b, width)
    if typing.signed:
        return unsigned(signed(a, width) * signed(b, width), 2 * width)
    return masked(a * b, 2 * width)


def _high(a: Words, b: Words, width: int, is_signed: bool) -> Words:
    if is_signed:
        return unsigned((signed(a, width) * signed(b, width)) >> np.int64(width), width)
    return masked((a * b) >> np.uint64(width), width)


def _mad(call: Call) -> Words | None:
    product = _product(call)
    if product is None:
        return None
    width = call.typing.width * (2 if call.typing.has(".wide") else 1)
    return masked(product + call.value(3, width), width)


def _shift(left: bool) -> Handler:
    def handler(call: Call) -> Words:
        typing, width = call.typing, call.typing.width
        a, amount = call.value(1, width), call.value(2, 32)
        beyond = amount >= np.uint64(width)
        if left:
            return np.where(beyond, np.uint64(0), masked(a << np.where(beyond, np.uint64(0), amount), width))
        if typing.signed:
            clamped = np.minimum(amount, np.uint64(width - 1)).view(np.int64)
            return unsigned(signed(a, width) >> clamped, width)
        return np.where(beyond, np.uint64(0), a >> np.where(beyond, np.uint64(0), amount))

    return handler


def _compare(call: Call) -> Words | None:
    typing = call.typing
    relation, width = relation_of(typing.modifiers), typing.source_width
    if relation is None:
        return None
    a, b = call.value(1, width), call.value(2, width)
    if typing.source_signed:
        holds = _relate(relation, signed(a, width), signed(b, width))
    else:
        holds = _relate(relation, a, b)
    first: Words = (holds != bool(call.part)).astype(np.uint64)
    if call.count < 4:
        return first
    third = call.value(3, 1)
    if typing.has(".and"):
        return first & third
    return first | third if typing.has(".or") else first ^ third


def _relate(relation: Relation, a: Comparable, b: Comparable) -> Truths:
    match relation:
        case Relation.EQ:
            return np.equal(a, b)
        case Relation.NE:
            return np.not_equal(a, b)
        case Relation.LT:
            return np.less(a, b)
        case Relation.LE:
            return np.less_equal(a, b)
        case Relation.GT:
            return np.greater(a, b)
        case _:
            return np.greater_equal(a, b)


def _extreme(largest: bool) -> Handler:
    def handler(call: Call) -> Words:
        typing, width = call.typing, call.typing.width
        a, b = call.value(1, width), call.value(2, width)
        if typing.signed:
            pick = np.maximum if largest else np.minimum
            return unsigned(pick(signed(a, width), signed(b, width)), width)
        return np.maximum(a, b) if largest else np.minimum(a, b)

    return handler


def _divide(rest: bool) -> Handler:
    def handler(call: Call) -> Words | None:
        typing, width = call.typing, call.typing.width
        a, b = call.value(1, width), call.value(2, width)
        if not b.all():
            return None
        if not typing.signed:
            return a % b if rest else a // b
        x, y = signed(a, width), signed(b, width)
        left = np.sign(x) * (np.abs(x) % np.abs(y))
        return unsigned(left if rest else (x - left) // y, width)

    return handler


def _convert(call: Call) -> Words | None:
    typing = call.typing
    if len(typing.types) != 2 or typing.has(".sat"):
        return None
    source = call.value(1, typing.source_width)
    wide = signed(source, typing.source_width).view(np.uint64) if typing.source_signed else source
    result = masked(wide, typing.width)
    return unsigned(signed(result, typing.width), 32) if typing.width < 32 and typing.signed else result


def _select(call: Call) -> Words:
    width = call.typing.width
    return np.where(call.value(3, 1) != 0, call.value(1, width), call.value(2, width))


def _bit_extract(call: Call) -> Words | None:
    typing, width = call.typing, call.typing.width
    if typing.signed:
        return None
    start, length = call.value(2, 8), call.value(3, 8)
    shifted = np.where(
        start >= np.uint64(width), np.uint64(0), call.value(1, width) >> (start & np.uint64(63))
    )
    kept = (np.uint64(1) << (length & np.uint64(63))) - np.uint64(1)
    return np.where(length >= np.uint64(width), shifted, shifted & kept)


def _lop3(call: Call) -> Words | None:
    if call.typing.has(".or") or call.typing.has(".and"):
        return None
    inputs = [call.value(index, 32) for index in (1, 2, 3)]
    table = int(call.value(4, 32)[0])
    result = np.zeros_like(inputs[0])
    for row in range(8):
        if table >> row & 1:
            picked = [word if row >> (2 - n) & 1 else ~word for n, word in enumerate(inputs)]
            result |= picked[0] & picked[1] & picked[2]
    return masked(result, 32)


def _absolute(call: Call) -> Words:
    width = call.typing.width
    return unsigned(np.abs(signed(call.value(1, width), width)), width)


_SEMANTICS: Mapping[Op, Handler] = {
    Op.ADD: _binary(np.add),
    Op.SUB: _binary(np.subtract),
    Op.MUL: _product,
    Op.MAD: _mad,
    Op.AND: _binary(np.bitwise_and),
    Op.OR: _binary(np.bitwise_or),
    Op.XOR: _binary(np.bitwise_xor),
    Op.NOT: lambda call: masked(~call.value(1, call.typing.width), call.typing.width),
    Op.NEG: lambda call: masked(np.uint64(0) - call.value(1, call.typing.width), call.typing.width),
    Op.ABS: _absolute,
    Op.SHL: _shift(left=True),
    Op.SHR: _shift(left=False),
    Op.SETP: _compare,
    Op.MIN: _extreme(False),
    Op.MAX: _extreme(True),
    Op.DIV: _divide(rest=False),
    Op.REM: _divide(rest=True),
    Op.CVT: _convert,
    Op.SELP: _select,
    Op.BFE: _bit_extract,
    Op.LOP3: _lop3,
    Op.MOV: lambda call: call.value(1, call.typing.width),
}
_ODD = (".sat", ".relu", ".cc")


def knows(op: Op, typing: Typing) -> bool:
    """Tell whether `apply` may have an answer for an operation."""
    return op in _SEMANTICS and typing.is_integer and not any(typing.has(mode) for mode in _ODD)


def apply(op: Op, call: Call) -> Words | None:
    """Return the destination's numbers, or None where the semantics are not exact."""
    return _SEMANTICS[op](call)
