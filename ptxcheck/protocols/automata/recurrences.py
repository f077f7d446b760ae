"""Registers that each round of a loop changes by the same amount: chains of recurrences of the first order.

Property: for each register in `recurrences(…)`, its value at the header in round t + 1 is that in round t plus the
step, in every run of the loop, modulo the width of the register.

Argument: a forward analysis of one round. It maps registers to "register at the header plus amount" by moves and by
additions of numbers and of registers that the loop does not write; paths that disagree give nothing. At a back edge
the map says what the next round starts with (Bachmann, Wang, Zima 1994, for the general form).

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
    """By what a register changes in each round: a number, and perhaps a register that the loop does not write."""

    number: int
    register: Register | None = None


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
            found[register] = Step(only.number, only.added)
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
    for register in instruction.writes():
        sums[register] = value


def _value(instruction: Instruction, sums: _Sums, written: set[Register]) -> _Sum | None:
    op, operands = instruction.operation.op, instruction.operands
    if instruction.guard is not None or len(tuple(instruction.writes())) != 1:
        return None
    if op is Op.MOV and isinstance(operands[1], Register):
        return sums.get(operands[1], _Sum(operands[1]))
    if op not in (Op.ADD, Op.SUB) or len(operands) != 3:
        return None
    for one, other in ((operands[1], operands[2]), (operands[2], operands[1])):
        if isinstance(one, Register):
            held = sums.get(one, _Sum(one))
            total = None if held is None else _added(held, other, written, negated=op is Op.SUB)
            if total is not None:
                return total
        if op is Op.SUB:
            break
    return None


def _added(held: _Sum, other: Operand, written: set[Register], *, negated: bool) -> _Sum | None:
    if isinstance(other, Immediate):
        number = other.value - (1 << 64) if other.value & _SIGN else other.value
        return _Sum(held.base, held.number + (-number if negated else number), held.added)
    is_kept = isinstance(other, Register) and other not in written
    if not is_kept or held.added is not None or negated:
        return None
    assert isinstance(other, Register)
    return _Sum(held.base, held.number, other)
