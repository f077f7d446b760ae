"""Register instructions of the SIMT machine, by operation.

Property: of numbers each function gives what PTX says, cut to the width of the operation; of symbols a symbol that is
equal for equal computations.

Argument: by operation, after the PTX ISA; numbers of lanes are computed lane by lane.

Not covered: wrap-around of symbols, and floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....cfg.optypes import Typing
from ....opcodes.op import Op
from . import lane_arithmetic as lanes
from .comparisons import compared_integers, has_no_sign, sign_extended
from .kinds import Kind
from .symbol import Form, Value
from .value_ranges import fits

_REGISTER = 32
"""Bits of the registers that numbers are followed in; what is narrower is cut."""
Compute = Callable[[Typing, Sequence[Value], int], Value]
"""Types of the operation, source values, number of threads of the CTA → result."""


def _mov(_: Typing, sources: Sequence[Value], __: int) -> Value:
    return sources[0]


def _mul(types: Typing, a: Value, b: Value) -> Value:
    width = types.width
    if types.has(".wide"):
        if types.signed:
            a, b = sign_extend(a, width, 2 * width), sign_extend(b, width, 2 * width)
        return lanes.multiply(a, b, 2 * width)
    if types.has(".hi"):
        a, b = _as_typed(types, (a, b))
        return lanes.multiply_high(a, b, types.width, signed_operands=types.signed)
    return lanes.multiply(a, b, width)


def _as_typed(types: Typing, sources: Sequence[Value]) -> list[Value]:
    """Return sources whose symbols are numbers with a sign, where the operation reads them with one in few bits."""
    is_narrow = types.signed and types.width < 32
    return [
        sign_extended(each, types.width) if is_narrow and isinstance(each, Form) else each for each in sources
    ]


def sign_extend(a: Value, source: int, target: int) -> Value:
    """The same signed number in a wider register."""
    if isinstance(a, Form):
        return sign_extended(a, source) if source < 32 else a
    return lanes.unsigned(lanes.signed(a, source), target)


def _mad(types: Typing, sources: Sequence[Value], _: int) -> Value:
    a, b, c = sources
    width = 2 * types.width if types.has(".wide") else types.width
    return lanes.add(_mul(types, a, b), c, width)


def _cvt(types: Typing, sources: Sequence[Value], threads: int) -> Value:
    a = sources[0]
    target, source = types.width, types.source_width
    if not types.is_integer or len(sources) > 1:
        return lanes.opaque(
            Kind.CVT, *types.types, *sorted(types.modifiers.difference(types.types)), *sources
        )
    if isinstance(a, Form):
        narrow = min(target, source)
        is_signed = types.source_signed and source < 32
        is_whole = has_no_sign(a, source) if is_signed else fits(a, source, threads)
        if narrow >= 32 or (target > source and is_whole):
            return a
        # The low bits of a number, which a signed type would read as negative ones.
        is_kept = not types.source_signed and (target > source or not types.signed)
        return (
            lanes.bitwise(Op.AND, a, lanes.mask_of(narrow))
            if is_kept
            else lanes.opaque(Kind.CVT, *types.types, a)
        )
    a = lanes.unsigned(a, source)
    if types.source_signed and target > source:
        return lanes.unsigned(lanes.signed(a, source), target)
    return lanes.unsigned(a, target)


def _shift_right(types: Typing, sources: Sequence[Value], _: int) -> Value:
    (a,) = _as_typed(types, sources[:1])
    n, width = sources[1], types.width
    return lanes.shift_right(a, n, width, arithmetic=types.signed)


def _divide(types: Typing, sources: Sequence[Value], _: int) -> Value:
    a, b = _as_typed(types, sources)
    return lanes.divide(a, b, types.width, signed_operands=types.signed)


def _remain(types: Typing, sources: Sequence[Value], _: int) -> Value:
    a, b = _as_typed(types, sources)
    return lanes.remainder(a, b, types.width, signed_operands=types.signed)


def _extreme(types: Typing, sources: Sequence[Value], threads: int, *, largest: bool) -> Value:
    a, b = sources
    less = compared_integers(".lt", a, b, types.width, signed_operands=types.signed)
    found = lanes.choose(less, b, a, threads) if largest else lanes.choose(less, a, b, threads)
    if not types.has(".relu"):
        return found
    is_negative = compared_integers(".lt", found, 0, types.width, signed_operands=True)
    return lanes.choose(is_negative, 0, found, threads)


def _bfe(types: Typing, sources: Sequence[Value], _: int) -> Value:
    width = types.width

    def extract(a: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        value = a >> position & lanes.mask_of(length)
        if types.signed and length:
            top = min(position + length - 1, width - 1)
            if a >> top & 1:
                value |= lanes.mask_of(width) & ~lanes.mask_of(max(top + 1 - position, 0))
        return value & lanes.mask_of(width)

    source, start, size = sources
    if isinstance(source, Form) and isinstance(start, int) and isinstance(size, int) and not types.signed:
        shifted = lanes.shift_right(source, start & 255, width, arithmetic=False)
        return lanes.bitwise(Op.AND, shifted, lanes.mask_of(size & 255) & lanes.mask_of(width))
    return lanes.pure(Op.BFE, extract, sources, width, types.signed)


def _bfi(types: Typing, sources: Sequence[Value], _: int) -> Value:
    width = types.width

    def insert(a: int, b: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        field = lanes.mask_of(length) << position & lanes.mask_of(width)
        return (b & ~field) | (a << position & field)

    return lanes.pure(Op.BFI, insert, sources, width)


def _bfind(types: Typing, sources: Sequence[Value], _: int) -> Value:
    width, is_shift = types.width, types.has(".shiftamt")

    def find(a: int) -> int:
        if types.signed and a >> width - 1 & 1:
            a = ~a & lanes.mask_of(width)
        place = a.bit_length() - 1
        return lanes.mask_of(32) if place < 0 else width - 1 - place if is_shift else place

    return lanes.pure(Op.BFIND, find, sources, width, types.signed, is_shift)


def _lop3(_: Typing, sources: Sequence[Value], __: int) -> Value:
    def combine(a: int, b: int, c: int, table: int) -> int:
        ones = lanes.mask_of(32)
        result = 0
        for row in range(8):
            if table >> row & 1:
                result |= (
                    (a if row & 4 else a ^ ones) & (b if row & 2 else b ^ ones) & (c if row & 1 else c ^ ones)
                )
        return result & ones

    return lanes.pure(Op.LOP3, combine, sources[:4])


_PERMUTE_MODES = (".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")


def _prmt(types: Typing, sources: Sequence[Value], _: int) -> Value:
    mode = next((each for each in _PERMUTE_MODES if types.has(each)), None)
    if mode is not None:
        return lanes.opaque(Kind.PRMT, mode, *sources)

    def permute(a: int, b: int, selector: int) -> int:
        data = a | b << 32
        result = 0
        for index in range(4):
            pick = selector >> 4 * index & 15
            byte = data >> 8 * (pick & 7) & 255
            if pick & 8:
                byte = 255 if byte & 128 else 0
            result |= byte << 8 * index
        return result

    return lanes.pure(Op.PRMT, permute, sources)


def _shf(types: Typing, sources: Sequence[Value], _: int) -> Value:
    def funnel(a: int, b: int, n: int) -> int:
        n = n & 31 if types.has(".wrap") else min(n, 32)
        both = a | b << 32
        return (both << n >> 32 if types.has(".l") else both >> n) & lanes.mask_of(32)

    return lanes.pure(Op.SHF, funnel, sources, types.has(".wrap"), types.has(".l"))


def _bitwise(op: Op) -> Compute:
    return lambda types, sources, threads: lanes.bitwise(op, sources[0], sources[1])


def _not(types: Typing, sources: Sequence[Value], _: int) -> Value:
    if types.width == 1:
        return lanes.negate(sources[0])
    ones = lanes.mask_of(types.width)
    inverted = lanes.subtract(ones, sources[0], types.width)
    return lanes.bitwise(Op.AND, inverted, ones) if types.width < _REGISTER else inverted


COMPUTE: Mapping[Op, Compute] = {
    Op.MOV: _mov,
    Op.ADD: lambda types, sources, _: lanes.add(sources[0], sources[1], types.width),
    Op.SUB: lambda types, sources, _: lanes.subtract(sources[0], sources[1], types.width),
    Op.MUL: lambda types, sources, _: _mul(types, sources[0], sources[1]),
    Op.MAD: _mad,
    Op.NEG: lambda types, sources, _: lanes.subtract(0, sources[0], types.width),
    Op.ABS: lambda types, sources, n: lanes.pure(
        Op.ABS, lambda a: abs(lanes.signed(a, types.width)) & lanes.mask_of(types.width), sources, types.width
    ),
    Op.SHL: lambda types, sources, _: lanes.shift_left(sources[0], sources[1], types.width),
    Op.SHR: _shift_right,
    Op.AND: _bitwise(Op.AND),
    Op.OR: _bitwise(Op.OR),
    Op.XOR: _bitwise(Op.XOR),
    Op.NOT: _not,
    Op.CVT: _cvt,
    Op.DIV: _divide,
    Op.REM: _remain,
    Op.MIN: lambda types, sources, n: _extreme(types, sources, n, largest=False),
    Op.MAX: lambda types, sources, n: _extreme(types, sources, n, largest=True),
    Op.BFE: _bfe,
    Op.BFI: _bfi,
    Op.BFIND: _bfind,
    Op.LOP3: _lop3,
    Op.PRMT: _prmt,
    Op.SHF: _shf,
    Op.SELP: lambda types, sources, n: lanes.choose(sources[2], sources[0], sources[1], n),
    Op.POPC: lambda types, sources, _: lanes.pure(Op.POPC, lambda a: a.bit_count(), sources, types.width),
    Op.CLZ: lambda types, sources, _: lanes.pure(
        Op.CLZ, lambda a: types.width - a.bit_length(), sources, types.width
    ),
    Op.BREV: lambda types, sources, _: lanes.pure(
        Op.BREV, lambda a: int(f"{a:0{types.width}b}"[::-1], 2), sources, types.width
    ),
}
"""Instructions that compute a register from registers; whatever is not here gives an opaque symbol."""
