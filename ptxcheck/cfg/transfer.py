"""Transfer functions of integer operations, by `Op`.

Property: for all numbers in the operands' values, the machine result is in the returned value. A handler
returns None for "no knowledge": the caller then invents an atom for the definition. Operands follow the order
of the PTX manual: the destination first.

Unsupported, and hence opaque: floating point, packed (SIMD in a word) types, saturation, video instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ..opcodes.op import Op
from . import arithmetic as arith
from . import bits
from .compare import decide, relation_of
from .optypes import Typing
from .values import (
    Value,
    between,
    exactly,
    join,
)


class Call(Protocol):
    """One instruction, as transfer functions see it."""

    @property
    def typing(self) -> Typing: ...

    @property
    def count(self) -> int:
        """Number of operands, the destination included."""
        ...

    @property
    def part(self) -> int:
        """Element of the destination that is asked for."""
        ...

    def value(self, index: int, width: int) -> Value:
        """Return the value of an operand as a number of `width` bits."""
        ...

    def chosen(self, index: int, width: int, predicate: int, holds: bool) -> Value | None:
        """Return the value of an operand given what a predicate operand says; None when that cannot be."""
        ...

    def elements(self, index: int) -> int:
        """Return the length of a vector operand, 0 for a scalar."""
        ...

    def element(self, index: int, part: int, width: int) -> Value: ...


Handler = Callable[[Call], Value | None]
_Binary = Callable[[Value, Value], Value]


def _binary(function: _Binary) -> Handler:
    def handler(call: Call) -> Value | None:
        width = call.typing.width
        return function(call.value(1, width), call.value(2, width))

    return handler


def _unary(function: Callable[[Value], Value]) -> Handler:
    return lambda call: function(call.value(1, call.typing.width))


def _plain(handler: Handler) -> Handler:
    """Leave saturating and carrying forms opaque."""

    def guarded(call: Call) -> Value | None:
        odd = call.typing.has(".sat") or call.typing.has(".relu")
        return None if odd else handler(call)

    return guarded


def _product(call: Call) -> Value:
    typing = call.typing
    a, b = call.value(1, typing.width), call.value(2, typing.width)
    if typing.has(".wide"):
        return arith.mul_wide(a, b, typing.signed)
    return arith.mul_high(a, b, typing.signed) if typing.has(".hi") else arith.mul(a, b)


def _mad(call: Call) -> Value:
    product = _product(call)
    return arith.add(product, call.value(3, product.width))


def _shift_left(call: Call) -> Value:
    return arith.shift_left(call.value(1, call.typing.width), call.value(2, 32))


def _shift_right(call: Call) -> Value:
    typing = call.typing
    return arith.shift_right_by(call.value(1, typing.width), call.value(2, 32), typing.signed)


def _funnel(call: Call) -> Value | None:
    amount = call.value(3, 32).constant
    if amount is None:
        return None
    amount = amount & 31 if call.typing.has(".wrap") else min(amount, 32)
    whole = bits.concatenate((call.value(1, 32), call.value(2, 32)), 64)
    return arith.truncate(
        arith.shift_right(whole, 32 - amount if call.typing.has(".l") else amount, signed=False), 32
    )


def _extreme(largest: bool) -> Handler:
    def handler(call: Call) -> Value:
        typing = call.typing
        a, b = call.value(1, typing.width), call.value(2, typing.width)
        if typing.signed:
            return arith.signed_extreme(a, b, largest)
        return arith.maximum(a, b) if largest else arith.minimum(a, b)

    return handler


def _unsigned_only(function: _Binary) -> Handler:
    """Division: signed operands only where both are known to be non-negative."""

    def handler(call: Call) -> Value | None:
        typing = call.typing
        a, b = call.value(1, typing.width), call.value(2, typing.width)
        half = 1 << (typing.width - 1)
        return None if typing.signed and (a.high >= half or b.high >= half) else function(a, b)

    return handler


def _absolute(call: Call) -> Value:
    a = call.value(1, call.typing.width)
    low, high = a.signed_range
    if low >= 0:
        return a
    return between(0 if high >= 0 else -high, max(-low, high), a.width)


def _move(call: Call) -> Value | None:
    width = call.typing.width
    parts = call.elements(1)
    if parts:
        size = width // parts
        return bits.concatenate(tuple(call.element(1, n, size) for n in range(parts)), width)
    targets = call.elements(0)
    if targets:
        return bits.slice_of(call.value(1, width), call.part, width // targets)
    return call.value(1, width)


def _convert(call: Call) -> Value | None:
    typing = call.typing
    if len(typing.types) != 2 or typing.has(".sat"):
        return None
    source = call.value(1, typing.source_width)
    width = typing.width
    extend = arith.sign_extend if typing.source_signed else arith.zero_extend
    result = extend(source, width)
    if width < 32 and typing.signed:
        return arith.sign_extend(result, 32)
    return result


def _select(call: Call) -> Value | None:
    width = call.typing.width
    taken = call.chosen(1, width, 3, True)
    other = call.chosen(2, width, 3, False)
    if taken is None or other is None:
        return other if taken is None else taken
    return join(taken, other)


def _bit_extract(call: Call) -> Value | None:
    typing = call.typing
    start, length = call.value(2, 32).constant, call.value(3, 32).constant
    if start is None or length is None:
        if length is None or typing.signed or length & 0xFF >= typing.width:
            return None
        return between(0, (1 << (length & 0xFF)) - 1, typing.width)
    return bits.extract(call.value(1, typing.width), start & 0xFF, length & 0xFF, typing.signed)


def _bit_insert(call: Call) -> Value | None:
    width = call.typing.width
    start, length = call.value(3, 32).constant, call.value(4, 32).constant
    if start is None or length is None:
        return None
    return bits.insert(call.value(1, width), call.value(2, width), start & 0xFF, length & 0xFF)


def _lop3(call: Call) -> Value | None:
    if call.typing.has(".or") or call.typing.has(".and"):
        return None
    table = call.value(4, 32).constant
    return (
        None
        if table is None
        else bits.lop3(call.value(1, 32), call.value(2, 32), call.value(3, 32), table & 0xFF)
    )


_PERMUTE_MODES = (".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")


def _permute(call: Call) -> Value | None:
    selector = call.value(3, 32).constant
    if selector is None or any(call.typing.has(mode) for mode in _PERMUTE_MODES):
        return None
    return bits.permute(call.value(1, 32), call.value(2, 32), selector & 0xFFFF)


def _compare(call: Call) -> Value | None:
    typing = call.typing
    relation = relation_of(typing.modifiers)
    if relation is None or not typing.is_integer:
        return None
    a, b = call.value(1, typing.source_width), call.value(2, typing.source_width)
    answer = decide(relation, a, b, typing.source_signed)
    if call.part:
        answer = None if answer is None else not answer
    first = between(0, 1, 1) if answer is None else exactly(int(answer), 1)
    if call.count < 4:
        return first
    third = call.value(3, 1)
    for mode, function in ((".and", bits.bit_and), (".or", bits.bit_or), (".xor", bits.bit_xor)):
        if typing.has(mode):
            return function(first, third)
    return None


def _population(call: Call) -> Value:
    return bits.population(call.value(1, call.typing.width))


def _range(low: int, high: int) -> Handler:
    return lambda call: between(low, high, 32)


def _leading_zeros(call: Call) -> Value:
    width = call.typing.width
    a = call.value(1, width)
    return between(width - a.high.bit_length(), width - a.low.bit_length(), 32)


_INTEGER_ONLY: Mapping[Op, Handler] = {
    Op.ADD: _plain(_binary(arith.add)),
    Op.SUB: _plain(_binary(arith.sub)),
    Op.MUL: _product,
    Op.MAD: _plain(_mad),
    Op.NEG: _unary(arith.negate),
    Op.ABS: _absolute,
    Op.SHL: _shift_left,
    Op.SHR: _shift_right,
    Op.SHF: _funnel,
    Op.AND: _binary(bits.bit_and),
    Op.OR: _binary(bits.bit_or),
    Op.XOR: _binary(bits.bit_xor),
    Op.NOT: _unary(bits.bit_not),
    Op.DIV: _unsigned_only(arith.divide),
    Op.REM: _unsigned_only(arith.remainder),
    Op.MIN: _plain(_extreme(False)),
    Op.MAX: _plain(_extreme(True)),
    Op.CVT: _convert,
    Op.BFE: _bit_extract,
    Op.BFI: _bit_insert,
    Op.LOP3: _lop3,
    Op.PRMT: _permute,
    Op.SETP: _compare,
    Op.POPC: _population,
    Op.CLZ: _leading_zeros,
}

_ANY_TYPE: Mapping[Op, Handler] = {
    Op.MOV: _move,
    Op.SELP: _select,
    Op.GETCTARANK: _range(0, 15),
}


def knows(op: Op, typing: Typing) -> bool:
    """Tell whether `apply` can say something about an operation."""
    return op in _ANY_TYPE or (op in _INTEGER_ONLY and typing.is_integer)


def apply(op: Op, call: Call) -> Value | None:
    """Return the value of the destination, or None when nothing is known of it."""
    handler = _ANY_TYPE.get(op)
    if handler is not None:
        return handler(call)
    handler = _INTEGER_ONLY.get(op)
    return None if handler is None or not call.typing.is_integer else handler(call)
