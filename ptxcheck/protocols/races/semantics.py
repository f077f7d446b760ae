"""What integer instructions compute, as terms.

Property: for the operations in `_SEMANTICS`, the term is what the machine leaves in the destination, for all numbers of
the operands. Everything else has no term (None) and is a variable of its caller.

Argument: each term is the definition of the PTX ISA with operations that wrap and shifts that lose bits. `bmsk` is
`((1 << width) - 1) << position`: shifts by 32 and more leave 0, which is what both clamps of the ISA come to.

Not covered: saturation, carries, floating point; fields whose place or length is not a literal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...cfg.compare import Relation, relation_of
from ...cfg.optypes import Typing, typing_of
from ...cfg.special import special_name
from ...ir import (
    Component,
    FloatImmediate,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
    Vector,
)
from ...opcodes.op import Op
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits


@dataclass(frozen=True, slots=True)
class Call:
    """One instruction of which a destination is asked for; `read` gives an operand as a term of a width."""

    pool: Pool
    instruction: Instruction
    part: int
    """Which element of the destination."""
    read: Callable[[Operand, int], Bits]

    @property
    def typing(self) -> Typing:
        return typing_of(self.instruction.operation)

    @property
    def count(self) -> int:
        return len(self.instruction.operands)

    def value(self, index: int, width: int) -> Bits:
        """Return an operand as a term of a width."""
        return self.read(self.instruction.operands[index], width)


Handler = Callable[[Call], Bits | None]
_OTHER_PICKS = (".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")
"""Modes of `prmt` that do not pick by nibbles."""
_ODD = (".sat", ".relu", ".cc")


def fitted(pool: Pool, term: Bits, width: int) -> Bits:
    """Return a register's term as an operand of a width."""
    if term.width == width:
        return term
    return pool.extract(term, 0, width) if term.width > width else pool.zext(term, width)


def _binary(function: Callable[[Pool], Callable[[Bits, Bits], Bits]]) -> Handler:
    def handler(call: Call) -> Bits:
        width = call.typing.width
        return function(call.pool)(call.value(1, width), call.value(2, width))

    return handler


def _product(call: Call) -> Bits | None:
    typing, width, pool = call.typing, call.typing.width, call.pool
    a, b = call.value(1, width), call.value(2, width)
    if not (typing.has(".wide") or typing.has(".hi")):
        return pool.mul(a, b)
    wide = pool.sext if typing.signed else pool.zext
    product = pool.mul(wide(a, 2 * width), wide(b, 2 * width))
    return product if typing.has(".wide") else pool.extract(product, width, width)


def _mad(call: Call) -> Bits | None:
    product = _product(call)
    return None if product is None else call.pool.add(product, call.value(3, product.width))


def _shift(left: bool) -> Handler:
    def handler(call: Call) -> Bits | None:
        pool, width = call.pool, call.typing.width
        a, amount = call.value(1, width), call.value(2, 32)
        if amount.constant is None and width < 32:
            return None
        by = (
            pool.number(min(amount.constant, width), width)
            if amount.constant is not None
            else fitted(pool, amount, width)
        )
        if left:
            return pool.shl(a, by)
        return pool.ashr(a, by) if call.typing.signed else pool.lshr(a, by)

    return handler


def related(pool: Pool, relation: Relation, a: Bits, b: Bits, *, signed: bool) -> Bits:
    """Return that two terms stand in a relation."""
    less = pool.slt if signed else pool.ult
    match relation:
        case Relation.EQ:
            return pool.eq(a, b)
        case Relation.NE:
            return pool.not_(pool.eq(a, b))
        case Relation.LT:
            return less(a, b)
        case Relation.GE:
            return pool.not_(less(a, b))
        case Relation.GT:
            return less(b, a)
        case Relation.LE:
            return pool.not_(less(b, a))


def _compare(call: Call) -> Bits | None:
    typing, pool = call.typing, call.pool
    relation, width = relation_of(typing.modifiers), typing.source_width
    if relation is None:
        return None
    holds = related(pool, relation, call.value(1, width), call.value(2, width), signed=typing.source_signed)
    if call.part:
        holds = pool.not_(holds)
    if call.count < 4:
        return holds
    third = call.value(3, 1)
    if typing.has(".and"):
        return pool.both(holds, third)
    return pool.either(holds, third) if typing.has(".or") else pool.xor(holds, third)


def _extreme(largest: bool) -> Handler:
    def handler(call: Call) -> Bits:
        pool, width = call.pool, call.typing.width
        a, b = call.value(1, width), call.value(2, width)
        less = pool.slt(a, b) if call.typing.signed else pool.ult(a, b)
        return pool.choice(less, b, a) if largest else pool.choice(less, a, b)

    return handler


def _divide(rest: bool) -> Handler:
    def handler(call: Call) -> Bits:
        width, signed = call.typing.width, call.typing.signed
        return call.pool.divide(call.value(1, width), call.value(2, width), signed=signed, rest=rest)

    return handler


def _convert(call: Call) -> Bits | None:
    typing, pool = call.typing, call.pool
    if len(typing.types) != 2:
        return None
    source, width = call.value(1, typing.source_width), typing.width
    if width > source.width:
        return (pool.sext if typing.source_signed else pool.zext)(source, width)
    result = pool.extract(source, 0, width)
    return pool.sext(result, 32) if width < 32 and typing.signed else result


def _select(call: Call) -> Bits:
    width = call.typing.width
    return call.pool.choice(call.value(3, 1), call.value(1, width), call.value(2, width))


def _bit_extract(call: Call) -> Bits | None:
    pool, width = call.pool, call.typing.width
    start, length = call.value(2, 32).constant, call.value(3, 32).constant
    if start is None or length is None:
        return None
    start, length = start & 0xFF, length & 0xFF
    if call.typing.signed:
        if not 0 < length <= width - start:
            return None
        return pool.sext(pool.extract(call.value(1, width), start, length), width)
    shifted = pool.lshr(call.value(1, width), pool.number(start, width))
    return pool.and_(shifted, pool.number((1 << min(length, width)) - 1, width))


def _bit_insert(call: Call) -> Bits | None:
    pool, width = call.pool, call.typing.width
    start, length = call.value(3, 32).constant, call.value(4, 32).constant
    if start is None or length is None:
        return None
    mask = ((1 << min(length & 0xFF, width)) - 1) << (start & 0xFF) & (1 << width) - 1
    moved = pool.shl(call.value(1, width), pool.number(min(start & 0xFF, width), width))
    kept = pool.and_(call.value(2, width), pool.number(~mask, width))
    return pool.or_(pool.and_(moved, pool.number(mask, width)), kept)


def _bit_mask(call: Call) -> Bits:
    """`bmsk`: as many ones as the width says, from the position on; bits above the word are cut off."""
    pool = call.pool
    position, count = call.value(1, 32), call.value(2, 32)
    if call.typing.has(".wrap"):
        position, count = (pool.and_(each, pool.number(31, 32)) for each in (position, count))
    ones = pool.sub(pool.shl(pool.number(1, 32), count), pool.number(1, 32))
    return pool.shl(ones, position)


def _permuted(call: Call) -> Bits | None:
    """`prmt` by a literal: each nibble picks one of 8 bytes, or its sign 8 times."""
    if any(call.typing.has(mode) for mode in _OTHER_PICKS):
        return None
    pool, picks = call.pool, call.value(3, 32).constant
    if picks is None:
        return None
    sources = call.value(1, 32), call.value(2, 32)
    result = pool.number(0, 32)
    for place in range(4):
        pick = picks >> 4 * place & 0xF
        byte = pool.extract(sources[pick >> 2 & 1], 8 * (pick & 3), 8)
        if pick & 8:
            byte = pool.ashr(byte, pool.number(7, 8))
        result = pool.or_(result, pool.shl(pool.zext(byte, 32), pool.number(8 * place, 32)))
    return result


def _lop3(call: Call) -> Bits | None:
    if call.typing.has(".or") or call.typing.has(".and"):
        return None
    pool, table = call.pool, call.value(4, 32).constant
    if table is None:
        return None
    inputs = [call.value(index, 32) for index in (1, 2, 3)]
    result = pool.number(0, 32)
    for row in (each for each in range(8) if table >> each & 1):
        picked = pool.number(-1, 32)
        for place, word in enumerate(inputs):
            picked = pool.and_(picked, word if row >> (2 - place) & 1 else pool.not_(word))
        result = pool.or_(result, picked)
    return result


def _funnel(call: Call) -> Bits | None:
    """`shf.wrap` by a literal."""
    pool, typing, amount = call.pool, call.typing, call.value(3, 32).constant
    if amount is None:
        return None
    by = amount & 31 if typing.has(".wrap") else min(amount, 32)
    low, high = pool.zext(call.value(1, 32), 64), pool.zext(call.value(2, 32), 64)
    both = pool.or_(low, pool.shl(high, pool.number(32, 64)))
    return pool.extract(both, 32 - by if typing.has(".l") else by, 32)


def _absolute(call: Call) -> Bits:
    pool, width = call.pool, call.typing.width
    a = call.value(1, width)
    return pool.choice(pool.slt(a, pool.number(0, width)), pool.neg(a), a)


_SEMANTICS: Mapping[Op, Handler] = {
    Op.ADD: _binary(lambda pool: pool.add),
    Op.SUB: _binary(lambda pool: pool.sub),
    Op.MUL: _product,
    Op.MAD: _mad,
    Op.AND: _binary(lambda pool: pool.and_),
    Op.OR: _binary(lambda pool: pool.or_),
    Op.XOR: _binary(lambda pool: pool.xor),
    Op.NOT: lambda call: call.pool.not_(call.value(1, call.typing.width)),
    Op.NEG: lambda call: call.pool.neg(call.value(1, call.typing.width)),
    Op.ABS: _absolute,
    Op.SHL: _shift(left=True),
    Op.SHR: _shift(left=False),
    Op.SHF: _funnel,
    Op.SETP: _compare,
    Op.MIN: _extreme(False),
    Op.MAX: _extreme(True),
    Op.DIV: _divide(rest=False),
    Op.REM: _divide(rest=True),
    Op.CVT: _convert,
    Op.SELP: _select,
    Op.BFE: _bit_extract,
    Op.BFI: _bit_insert,
    Op.BMSK: _bit_mask,
    Op.PRMT: _permuted,
    Op.LOP3: _lop3,
    Op.MOV: lambda call: call.value(1, call.typing.width),
}


def computed(call: Call) -> Bits | None:
    """Return what an instruction leaves in a destination, None where that is no term."""
    op, typing = call.instruction.operation.op, call.typing
    if op is Op.CVTA:
        return call.value(1, typing.width)
    handler = _SEMANTICS.get(op)
    if handler is None or not typing.types or not typing.is_integer or any(typing.has(mode) for mode in _ODD):
        return None
    found, target = handler(call), call.instruction.operands[0]
    if found is not None and isinstance(target, Vector):
        width = found.width // len(target.elements)
        return call.pool.extract(found, call.part * width, width)
    return found


@dataclass(frozen=True, slots=True)
class Sources:
    """How operands are read: what registers, special registers and symbols are."""

    pool: Pool
    register: Callable[[Register], Bits]
    special: Callable[[str], Bits]
    symbol: Callable[[Symbol], int]

    def read(self, operand: Operand | None, width: int) -> Bits | None:
        """Return an operand as a term of a width; None for what has no number."""
        pool = self.pool
        match operand:
            case Register():
                return fitted(pool, self.register(operand), width)
            case Immediate(value=number) | FloatImmediate(bits=number):
                return pool.number(number, width)
            case Negated(operand=inner):
                return pool.not_(fitted(pool, self.register(inner), 1))
            case Component():
                name = special_name(operand)
                return None if name is None else fitted(pool, self.special(name), width)
            case Symbol():
                return pool.number(self.symbol(operand), width)
            case SymbolOffset(symbol=symbol, offset=offset):
                return pool.number(self.symbol(symbol) + offset, width)
            case Vector(elements=elements) if width % len(elements) == 0:
                return self._packed(elements, width)
            case _:
                return None

    def _packed(self, elements: Sequence[Operand], width: int) -> Bits | None:
        """Return a vector's elements side by side, the first in the lowest bits."""
        pool, part = self.pool, width // len(elements)
        found = pool.number(0, width)
        for place, element in enumerate(elements):
            term = self.read(element, part)
            if term is None:
                return None
            found = pool.or_(found, pool.shl(pool.zext(term, width), pool.number(place * part, width)))
        return found
