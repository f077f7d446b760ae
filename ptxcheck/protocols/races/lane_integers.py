"""What integer instructions leave in the registers of many lanes at once, as arrays of numbers.

Property: for an instruction that `integer_meaning` has a meaning of, the function gives in each lane what the PTX ISA
says, for all numbers of the operands.

Argument: numbers are unsigned 64-bit ones, below 2^width of what wrote them; each function is the definition of the ISA
on such numbers, cut to the width at the end.

Not covered: saturation, carries, `mul.hi` of 64 bits, modes of `prmt` that do not pick by nibbles, and division by
zero, whose result the ISA leaves open (a number here).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...cfg.compare import Relation, relation_of
from ...cfg.optypes import Typing, typing_of
from ...ir import Instruction
from ...opcodes.op import Op

Lanes = npt.NDArray[np.uint64]
Function = Callable[..., Lanes]


@dataclass(frozen=True, slots=True)
class Meaning:
    """How wide the sources of an instruction are read, and what it makes of them."""

    widths: tuple[int, ...]
    function: Function


_ODD = (".sat", ".relu", ".cc")
_OTHER_PICKS = (".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")
_SIXTY_FOUR = np.uint64(64)


def number(value: int) -> Any:
    """Return a number as lanes hold it, modulo 2^64; as an operand of arrays it stands for that number in each lane."""
    return np.uint64(value & (1 << 64) - 1)


def cut(a: Lanes, width: int) -> Lanes:
    """Return the low bits of numbers."""
    return a if width >= 64 else a & number((1 << width) - 1)


def signed(a: Lanes, width: int) -> npt.NDArray[np.int64]:
    """Return numbers of a width as signed ones."""
    rest = number(64 - width)
    found: npt.NDArray[np.int64] = (np.asarray(a) << rest).view(np.int64) >> np.int64(64 - width)
    return found


def unsigned(a: npt.NDArray[np.int64], width: int) -> Lanes:
    """Return signed numbers as lanes of a width hold them."""
    return cut(np.asarray(a).view(np.uint64), width)


def truth(a: npt.NDArray[np.bool_]) -> Lanes:
    """Return truth values as predicates hold them."""
    return np.asarray(a).astype(np.uint64)


def shifted_left(a: Lanes, by: Lanes) -> Lanes:
    """Shift within 64 bits; by 64 and more all bits are lost."""
    found: Lanes = np.where(by >= _SIXTY_FOUR, number(0), a << np.minimum(by, number(63)))
    return found


def shifted_right(a: Lanes, by: Lanes) -> Lanes:
    """Shift without the sign; by 64 and more all bits are lost."""
    found: Lanes = np.where(by >= _SIXTY_FOUR, number(0), a >> np.minimum(by, number(63)))
    return found


def _binary(function: Callable[[Lanes, Lanes], Lanes]) -> Callable[[Typing, Instruction], Meaning]:
    def made(typing: Typing, instruction: Instruction) -> Meaning:
        width = typing.width
        return Meaning((width, width), lambda a, b: cut(function(a, b), width))

    return made


def _extended(a: Lanes, width: int, *, is_signed: bool) -> Lanes:
    return signed(a, width).view(np.uint64) if is_signed else a


def _product(typing: Typing, instruction: Instruction) -> Meaning | None:
    width, is_signed = typing.width, typing.signed
    if typing.has(".wide"):
        return Meaning(
            (width, width),
            lambda a, b: cut(
                _extended(a, width, is_signed=is_signed) * _extended(b, width, is_signed=is_signed), 2 * width
            ),
        )
    if typing.has(".hi"):
        if width > 32:
            return None
        return Meaning(
            (width, width),
            lambda a, b: cut(
                (_extended(a, width, is_signed=is_signed) * _extended(b, width, is_signed=is_signed))
                >> number(width),
                width,
            ),
        )
    return Meaning((width, width), lambda a, b: cut(a * b, width))


def _mad(typing: Typing, instruction: Instruction) -> Meaning | None:
    product = _product(typing, instruction)
    if product is None:
        return None
    width = 2 * typing.width if typing.has(".wide") else typing.width
    return Meaning((*product.widths, width), lambda a, b, c: cut(product.function(a, b) + c, width))


def _left(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width
    return Meaning((width, 32), lambda a, by: cut(shifted_left(a, by), width))


def _right(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width
    if not typing.signed:
        return Meaning((width, 32), shifted_right)
    return Meaning(
        (width, 32),
        lambda a, by: unsigned(signed(a, width) >> np.minimum(by, number(63)).view(np.int64), width),
    )


def _funnel(typing: Typing, instruction: Instruction) -> Meaning:
    wraps, left = typing.has(".wrap"), typing.has(".l")

    def function(a: Lanes, b: Lanes, by: Lanes) -> Lanes:
        by = by & number(31) if wraps else np.minimum(by, number(32))
        both = a | b << number(32)
        return cut(both >> (number(32) - by if left else by), 32)

    return Meaning((32, 32, 32), function)


def compared(relation: Relation, a: npt.NDArray[np.generic], b: npt.NDArray[np.generic]) -> Lanes:
    """Return whether numbers stand in a relation."""
    match relation:
        case Relation.EQ:
            return truth(a == b)
        case Relation.NE:
            return truth(a != b)
        case Relation.LT:
            return truth(a < b)  # type: ignore[operator]
        case Relation.LE:
            return truth(a <= b)  # type: ignore[operator]
        case Relation.GT:
            return truth(a > b)  # type: ignore[operator]
        case Relation.GE:
            return truth(a >= b)  # type: ignore[operator]


def combined(typing: Typing, count: int, width: int, holds: Function) -> Meaning:
    """Return the meaning of a comparison, with the predicate that it may be combined with."""
    if count < 4:
        return Meaning((width, width), holds)
    join: Callable[[Lanes, Lanes], Lanes] = np.bitwise_xor
    if typing.has(".and"):
        join = np.bitwise_and
    elif typing.has(".or"):
        join = np.bitwise_or
    return Meaning((width, width, 1), lambda a, b, c: join(holds(a, b), c))


def _compare(typing: Typing, instruction: Instruction) -> Meaning | None:
    relation, width = relation_of(typing.modifiers), typing.source_width
    if relation is None:
        return None
    if typing.source_signed:

        def holds(a: Lanes, b: Lanes) -> Lanes:
            return compared(relation, signed(a, width), signed(b, width))
    else:

        def holds(a: Lanes, b: Lanes) -> Lanes:
            return compared(relation, a, b)

    return combined(typing, len(instruction.operands), width, holds)


def _extreme(pick: Callable[..., npt.NDArray[np.generic]]) -> Callable[[Typing, Instruction], Meaning]:
    def made(typing: Typing, instruction: Instruction) -> Meaning:
        width = typing.width
        if not typing.signed:
            return Meaning((width, width), lambda a, b: np.asarray(pick(a, b)))
        return Meaning(
            (width, width),
            lambda a, b: unsigned(np.asarray(pick(signed(a, width), signed(b, width))), width),
        )

    return made


def _divide(*, rest: bool) -> Callable[[Typing, Instruction], Meaning]:
    def made(typing: Typing, instruction: Instruction) -> Meaning:
        width = typing.width

        def of_signed(a: Lanes, b: Lanes) -> Lanes:
            n, d = signed(a, width), signed(b, width)
            d = np.where(d == 0, np.int64(1), d)
            left = np.abs(n) % np.abs(d)
            left = np.where(n < 0, -left, left)
            return unsigned(left if rest else (n - left) // d, width)

        def of_unsigned(a: Lanes, b: Lanes) -> Lanes:
            b = np.where(b == number(0), number(1), b)
            return a % b if rest else a // b

        return Meaning((width, width), of_signed if typing.signed else of_unsigned)

    return made


def _convert(typing: Typing, instruction: Instruction) -> Meaning | None:
    if len(typing.types) != 2:
        return None
    source, width = typing.source_width, typing.width

    def function(a: Lanes) -> Lanes:
        a = cut(a, source)
        wide = signed(a, source).view(np.uint64) if typing.source_signed else a
        if width < 32:
            small = cut(wide, width)
            return unsigned(signed(small, width), 32) if typing.signed else small
        return cut(wide, width)

    return Meaning((source,), function)


def _select(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width
    return Meaning((width, width, 1), lambda a, b, test: np.asarray(np.where(test != number(0), a, b)))


def _bit_extract(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width

    def function(a: Lanes, start: Lanes, length: Lanes) -> Lanes:
        start, length = start & number(255), length & number(255)
        mask = shifted_left(number(1), np.minimum(length, number(63))) - number(1)
        mask = np.where(length >= _SIXTY_FOUR, number(-1), mask)
        field = shifted_right(a, start) & mask
        if not typing.signed:
            return cut(field, width)
        top = np.minimum(start + length - number(1), number(width - 1))
        negative = (shifted_right(a, top) & number(1) != number(0)) & (length != number(0))
        filled = shifted_left(
            number(-1), np.minimum(length, top + number(1) - np.minimum(start, top + number(1)))
        )
        return cut(np.where(negative, field | filled, field), width)

    return Meaning((width, 32, 32), function)


def _bit_insert(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width

    def function(a: Lanes, b: Lanes, start: Lanes, length: Lanes) -> Lanes:
        start, length = start & number(255), length & number(255)
        mask = shifted_left(number(1), np.minimum(length, number(63))) - number(1)
        mask = cut(shifted_left(np.where(length >= _SIXTY_FOUR, number(-1), mask), start), width)
        return (shifted_left(a, start) & mask) | (b & ~mask)

    return Meaning((width, width, 32, 32), function)


def _bit_mask(typing: Typing, instruction: Instruction) -> Meaning:
    def function(position: Lanes, count: Lanes) -> Lanes:
        if typing.has(".wrap"):
            position, count = position & number(31), count & number(31)
        ones = shifted_left(number(1), np.minimum(count, number(32))) - number(1)
        return cut(shifted_left(ones, position), 32)

    return Meaning((32, 32), function)


def _permuted(typing: Typing, instruction: Instruction) -> Meaning | None:
    if any(typing.has(mode) for mode in _OTHER_PICKS):
        return None

    def function(a: Lanes, b: Lanes, picks: Lanes) -> Lanes:
        both: Lanes = a | b << number(32)
        result: Lanes = number(0)
        for place in range(4):
            pick = picks >> number(4 * place) & number(15)
            byte = both >> ((pick & number(7)) * number(8)) & number(255)
            sign = (byte >> number(7)) * number(255)
            byte = np.where(pick & number(8) != number(0), sign, byte)
            result = result | byte << number(8 * place)
        return np.asarray(result)

    return Meaning((32, 32, 32), function)


def _lop3(typing: Typing, instruction: Instruction) -> Meaning | None:
    if typing.has(".or") or typing.has(".and"):
        return None

    def function(a: Lanes, b: Lanes, c: Lanes, table: Lanes) -> Lanes:
        result = number(0)
        for row in range(8):
            picked = table >> number(row) & number(1)
            inverses = (a if row & 4 else ~a, b if row & 2 else ~b, c if row & 1 else ~c)
            result = result | (inverses[0] & inverses[1] & inverses[2]) * picked
        return cut(np.asarray(result), 32)

    return Meaning((32, 32, 32, 32), function)


def counted(a: Lanes) -> Lanes:
    """Return how many bits are set."""
    ones = np.zeros_like(np.asarray(a))
    for place in range(64):
        ones = ones + (a >> number(place) & number(1))
    return ones


def leading(a: Lanes) -> Lanes:
    """Return the position of the highest bit that is set, plus one; 0 where none is."""
    found, rest = np.zeros_like(np.asarray(a)), a
    for step in (32, 16, 8, 4, 2, 1):
        high = rest >> number(step)
        found = np.where(high != number(0), found + number(step), found)
        rest = np.where(high != number(0), high, rest)
    place: Lanes = np.where(np.asarray(a) != number(0), found + number(1), number(0))
    return place


def _reversed(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width

    def function(a: Lanes) -> Lanes:
        result = np.zeros_like(np.asarray(a))
        for place in range(width):
            result = result | (a >> number(place) & number(1)) << number(width - 1 - place)
        return result

    return Meaning((width,), function)


def _find(typing: Typing, instruction: Instruction) -> Meaning:
    width = typing.width

    def function(a: Lanes) -> Lanes:
        if typing.signed:
            a = np.where(signed(a, width) < 0, cut(~a, width), a)
        top = leading(a)
        if typing.has(".shiftamt"):
            top = np.where(top == number(0), top, number(width + 1) - top)
        return cut(top - number(1), 32)

    return Meaning((width,), function)


def _unary(function: Callable[[Lanes, int], Lanes]) -> Callable[[Typing, Instruction], Meaning]:
    def made(typing: Typing, instruction: Instruction) -> Meaning:
        width = typing.width
        return Meaning((width,), lambda a: function(a, width))

    return made


def _absolute(a: Lanes, width: int) -> Lanes:
    return np.where(signed(a, width) < 0, cut(number(0) - a, width), a)


_MEANINGS: Mapping[Op, Callable[[Typing, Instruction], Meaning | None]] = {
    Op.ADD: _binary(lambda a, b: a + b),
    Op.SUB: _binary(lambda a, b: a - b),
    Op.MUL: _product,
    Op.MAD: _mad,
    Op.AND: _binary(lambda a, b: a & b),
    Op.OR: _binary(lambda a, b: a | b),
    Op.XOR: _binary(lambda a, b: a ^ b),
    Op.NOT: _unary(lambda a, width: cut(~a, width)),
    Op.NEG: _unary(lambda a, width: cut(number(0) - a, width)),
    Op.ABS: _unary(_absolute),
    Op.SHL: _left,
    Op.SHR: _right,
    Op.SHF: _funnel,
    Op.SETP: _compare,
    Op.MIN: _extreme(np.minimum),
    Op.MAX: _extreme(np.maximum),
    Op.DIV: _divide(rest=False),
    Op.REM: _divide(rest=True),
    Op.CVT: _convert,
    Op.SELP: _select,
    Op.BFE: _bit_extract,
    Op.BFI: _bit_insert,
    Op.BMSK: _bit_mask,
    Op.PRMT: _permuted,
    Op.LOP3: _lop3,
    Op.POPC: _unary(lambda a, width: counted(a)),
    Op.CLZ: _unary(lambda a, width: number(width) - leading(a)),
    Op.BREV: _reversed,
    Op.BFIND: _find,
    Op.MOV: _unary(lambda a, width: np.asarray(a)),
}
_BITWISE = frozenset({Op.MOV, Op.SELP})
"""What is the same for all types."""


def integer_meaning(instruction: Instruction) -> Meaning | None:
    """Return what an instruction computes from its sources, None where that is not known here."""
    operation = instruction.operation
    typing = typing_of(operation)
    if operation.op is Op.CVTA:
        return Meaning((typing.width,), np.asarray)
    made = _MEANINGS.get(operation.op)
    if made is None or not typing.types or any(typing.has(mode) for mode in _ODD):
        return None
    if not typing.is_integer and operation.op not in _BITWISE:
        return None
    return made(typing, instruction)
