"""Registers that each round of a loop changes by the same amount: chains of recurrences of the first order.

Property: for each register in `recurrences(…)`, its value at the header in round t + 1 is that in round t plus the
step, in every run of the loop, modulo the width of the register.

Argument: a forward analysis of one round. It maps registers to "register at the header plus amount" by moves and by
additions of numbers and of registers; paths that disagree give nothing. At a back edge the map says what the next round
starts with (Bachmann, Wang, Zima 1994, for the general form). A register that is added holds at the back edge what it
held where it was added: one that the loop does not write holds that in every round. Of one that each round computes,
it is for the caller to see that every round has computed the same.

Not covered: steps that change, and registers that are written under a predicate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...cfg.loops import Loop
from ...ir import Immediate, Instruction, Operand, Register
from ...opcodes.op import Op
from ..symex.slice.polling import POLLS
from ..symex.slice.sliced_program import Program

_SIGN = 1 << 63


@dataclass(frozen=True, slots=True)
class Step:
    """By what a register changes in each round: a number, and perhaps a register."""

    number: int
    register: Register | None = None
    is_computed: bool = False
    """Each round writes that register: the step is what it holds where the round ends."""


@dataclass(frozen=True, slots=True)
class _Sum:
    base: Register
    number: int = 0
    added: Register | None = None


_Sums = dict[Register, _Sum | None]
"""What registers hold; those that are left out hold what they did at the header."""


def recurrences(program: Program, loop: Loop) -> Mapping[Register, Step]:
    """Return the registers that change by one step in each round."""
    instructions = program.cfg.instructions
    points = {
        block: [p for p in program.cfg.blocks[block].points if p in program.points] for block in loop.blocks
    }
    written = {r for block in loop.blocks for p in points[block] for r in instructions[p].writes()}
    into: dict[int, _Sums] = {loop.header: {}}
    waiting, ends = [loop.header], list[_Sums]()
    latches: dict[int, _Sums] = {}
    while waiting:
        block = waiting.pop()
        sums = dict(into[block])
        for point in points[block]:
            _apply(instructions[point], sums, written)
        for target in _taken(program, block):
            if target == loop.header:
                latches[block] = sums
            elif target in loop.blocks:
                joined = _joined(into.get(target), sums)
                if joined != into.get(target):
                    into[target] = joined
                    waiting.append(target)
    ends = list(latches.values())
    found: dict[Register, Step] = {}
    for register in sorted(written):
        steps = {sums.get(register, _Sum(register)) for sums in ends}
        only = steps.pop() if len(steps) == 1 else None
        if only is not None and only.base == register and (only.number or only.added is not None):
            found[register] = Step(only.number, only.added, only.added in written)
    return found


def _taken(program: Program, block: int) -> Iterator[int]:
    """Yield where control goes from a block: a poll that is repeated is taken to succeed."""
    points = program.cfg.blocks[block].points
    polled = {
        register
        for point in points
        for register in program.cfg.instructions[point].writes()
        if program.cfg.instructions[point].operation.op in POLLS and point not in program.peeks
    }
    for edge in program.cfg.graph.outgoing[block]:
        if edge.guard is None or not edge.guard.negated or edge.guard.register not in polled:
            yield edge.target


def _joined(known: _Sums | None, sums: _Sums) -> _Sums:
    if known is None:
        return sums
    return {
        register: known.get(register, _Sum(register))
        if known.get(register, _Sum(register)) == sums.get(register, _Sum(register))
        else None
        for register in {**known, **sums}
    }


def _apply(instruction: Instruction, sums: _Sums, written: set[Register]) -> None:
    value = _value(instruction, sums, written)
    targets = tuple(instruction.writes())
    for register, held in sums.items():
        if held is not None and held.added in targets:  # it holds another amount now
            sums[register] = None
    for register in targets:
        sums[register] = value if value is None or value.added not in targets else None


def _value(instruction: Instruction, sums: _Sums, written: set[Register]) -> _Sum | None:
    op, operands = instruction.operation.op, instruction.operands
    if instruction.guard is not None or len(tuple(instruction.writes())) != 1:
        return None
    if op is Op.MOV and isinstance(operands[1], Register):
        return sums.get(operands[1], _Sum(operands[1]))
    if op not in (Op.ADD, Op.SUB) or len(operands) != 3:
        return None
    pairs = ((operands[1], operands[2]), (operands[2], operands[1]))
    totals: list[_Sum] = []
    for one, other in pairs[:1] if op is Op.SUB else pairs:
        held = sums.get(one, _Sum(one)) if isinstance(one, Register) else None
        total = None if held is None else _added(held, other, negated=op is Op.SUB)
        if total is not None:
            totals.append(total)
    return min(totals, key=lambda each: (each.added in written, each.base != operands[0]), default=None)


def _added(held: _Sum, other: Operand, *, negated: bool) -> _Sum | None:
    if isinstance(other, Immediate):
        number = other.value - (1 << 64) if other.value & _SIGN else other.value
        return _Sum(held.base, held.number + (-number if negated else number), held.added)
    if not isinstance(other, Register) or held.added is not None or negated:
        return None
    return _Sum(held.base, held.number, other)
