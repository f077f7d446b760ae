"""Results that are not computed: a symbol for each register that an instruction writes, named by what it depends on.

Property: two results have one name only where the machine knows that they are one number.

Argument: what follows from the operands alone is named by the operation and its operands; everything else also by the
point, the threads, and how often they have come there.

Not covered: what the numbers are.
"""

from __future__ import annotations

from ....ir import (
    Component,
    FloatImmediate,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Symbol,
    SymbolOffset,
    Vector,
)
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..values import lane_arithmetic as lanes
from ..values.kinds import Kind
from ..values.symbol import LANE, WARP, Value
from ..values.trace import ThreadSet
from .cta import Cta

ANY = LANE | WARP
"""Every thread may hold another number."""
_CARRYING = frozenset({Op.ADDC, Op.SUBC, Op.MADC})
"""They read the carry of an earlier instruction, which is no register."""


def opaque_results(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """Name the results after the operation and what it reads; a volatile one also after the thread and time."""
    traits = instruction.operation.traits
    written = list(dict.fromkeys(instruction.writes()))
    if (
        instruction.operation.op in _CARRYING
        or traits & {Trait.VOLATILE, Trait.ATOMIC, Trait.CALL, Trait.LOAD}
        or Trait.CROSS_LANE in traits
    ):
        one = guard.bit_count() == 1
        visit = cta.visits.count(("volatile", point, guard))
        cta.write_opaque(
            instruction, guard, Kind.VOLATILE, point, hex(guard), visit, differs=0 if one else ANY
        )
        return
    sources: list[Value | str] = [cta.operands.read(register, guard) for register in instruction.reads()]
    given = [_given(operand) for operand in instruction.operands]
    if any(given):
        sources.append(", ".join(given))
    for number, register in enumerate(written):
        if register in cta.program.wanted:
            symbol = lanes.opaque(instruction.operation.text, number, *sources)
            cta.registers.write(register, guard, symbol)


def returned_results(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """The result of a call."""
    visit = cta.visits.count(("returned", point, guard))
    cta.write_opaque(instruction, guard, Kind.RETURNED, point, hex(guard), visit, differs=ANY)


def _given(operand: Operand) -> str:
    """Return what the text of an operand gives besides registers."""
    match operand:
        case Immediate() | FloatImmediate() | Symbol() | SymbolOffset() | Component():
            return str(operand)
        case Negated():
            return "!"
        case Vector(elements=elements):
            given = [_given(element) for element in elements]
            return f"{{{', '.join(given)}}}" if any(given) else ""
        case _:
            return ""
