"""Registers of which the low bit matters alone: phases of mbarriers, and what they are computed from.

Property: two runs that differ in other bits of these registers alone synchronise alike.

Argument: the greatest set of registers that are read as phases, and by sums, exclusive ors, moves and choices into
registers of the set: the low bit of each of those follows from the low bits of what it is made of (demanded bits, as
compilers call them).

Not covered: registers that are read by anything else that is followed, and bits other than the lowest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from ...cfg.optypes import typing_of
from ...ir import Register, registers_of
from ...opcodes.op import Op
from ..symex.slice.computations import is_exact
from ..symex.slice.sliced_program import Program
from ..symex.values.parities import low_bit
from ..symex.values.register_file import Piece
from ..symex.values.symbol import Form

_PARITY = "parity"
_MOVES = frozenset({Op.MOV, Op.SELP})
_BITWISE = frozenset({Op.ADD, Op.SUB, Op.XOR, Op.AND, Op.OR, Op.MOV, Op.NOT})


def phase_registers(program: Program) -> frozenset[Register]:
    """Return the registers of a kernel of which the low bit matters alone."""
    uses = {(register, into) for point in program.points for register, into in _uses(program, point)}
    found = {register for register, _ in uses}
    others = {register for kind in program.accesses.values() for register in registers_of(kind.operand)}
    others |= {register for mask in program.open_masks.values() for register in registers_of(mask)}
    found -= others
    while True:
        read_whole = {register for register, into in uses if into is None or into not in found | {_PHASE}}
        if found.isdisjoint(read_whole):
            return frozenset(found)
        found -= read_whole


def with_low_bits(
    contents: Mapping[Register, list[Piece]], phases: Set[Register]
) -> dict[Register, list[Piece]]:
    """Return what registers hold, with the low bit alone of symbols in phases."""
    return {
        register: [(held, low_bit(value) if isinstance(value, Form) else value) for held, value in pieces]
        if register in phases
        else pieces
        for register, pieces in contents.items()
    }


_PHASE = Register("a phase")
"""Stands for the phase of an event among the registers that numbers are read into."""


def _uses(program: Program, point: int) -> Iterator[tuple[Register, Register | None]]:
    """Yield the registers that an instruction reads, each with the one whose low bit follows from theirs; else None."""
    instruction = program.cfg.instructions[point]
    if point in program.events:
        for spec, operand in program.followed_at(point):
            for register in registers_of(operand):
                yield register, _PHASE if spec.name == _PARITY else None
        if instruction.guard is not None:
            yield instruction.guard.register, None
        return
    target = instruction.operands[0] if instruction.operands else None
    numbers: tuple[Register, ...] = ()
    is_plain = is_exact(instruction) and (
        instruction.operation.op in _MOVES or typing_of(instruction.operation).is_integer
    )
    if isinstance(target, Register) and instruction.guard is None and is_plain:
        sources = instruction.operands[1:]
        kept = sources if instruction.operation.op in _BITWISE else ()
        kept = sources[:2] if instruction.operation.op is Op.SELP else kept
        numbers = tuple(each for each in kept if isinstance(each, Register))
        for register in numbers:
            yield register, target
    for register in instruction.reads():
        if register not in numbers:
            yield register, None


__all__ = ["phase_registers", "with_low_bits"]
