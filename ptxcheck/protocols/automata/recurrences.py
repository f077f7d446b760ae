"""Registers that each round of a loop changes by the same amount: chains of recurrences of the first order.

Property: for each register in `recurrences(…)`, its value at the header in round t + 1 is that in round t plus the
step, in every run of the loop, modulo the width of the register.

Argument: a forward analysis of one round. It maps registers to "register at the header plus amount" by moves and by
additions of numbers and of registers; paths that disagree give nothing. At a back edge the map says what the next round
starts with (Bachmann, Wang, Zima 1994, for the general form). A register that is added holds at the back edge what it
held where it was added: one that the loop does not write holds that in every round. Of one that each round computes,
it is for the caller to see that every round has computed the same.

Where a branch compares such registers with what no round writes, its predicate is one function of the number of the
round, whichever way a round has come there.

Not covered: steps that change, and registers that are written under a predicate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class _Round:
    """What registers hold in one round, in terms of what they hold at the header."""

    points: Mapping[int, Sequence[int]]
    """Instructions of each block of the loop that the slice has."""
    written: frozenset[Register]
    into: Mapping[int, _Sums]
    ends: Sequence[_Sums]


def recurrences(program: Program, loop: Loop) -> Mapping[Register, Step]:
    """Return the registers that change by one step in each round."""
    return _steps(_round(program, loop))


def _steps(one: _Round) -> Mapping[Register, Step]:
    found: dict[Register, Step] = {}
    for register in sorted(one.written):
        steps = {sums.get(register, _Sum(register)) for sums in one.ends}
        only = steps.pop() if len(steps) == 1 else None
        if only is not None and only.base == register and (only.number or only.added is not None):
            found[register] = Step(only.number, only.added, only.added in one.written)
    return found


def counted_exits(program: Program, loop: Loop) -> frozenset[int]:
    """Return the blocks at whose end each round compares the same function of how many rounds are over.

    All rounds come there, and a loop is left there or goes on, as a comparison of integers has it.
    """
    one = _round(program, loop)
    steps, dominators = _steps(one), program.cfg.dominators
    return frozenset(
        block
        for block, _ in loop.exits
        if block in one.into
        and all(dominators.dominates(block, latch) for latch in loop.latches)
        and _compares_counts(program, block, one, steps)
    )


def _compares_counts(program: Program, block: int, one: _Round, steps: Mapping[Register, Step]) -> bool:
    """Tell whether the predicate that decides a branch is set in its block, of what rounds count and what they keep."""
    instructions = program.cfg.instructions
    guard = instructions[program.cfg.blocks[block].last].guard
    sets = [p for p in one.points[block] if guard is not None and guard.register in instructions[p].writes()]
    if len(sets) != 1 or instructions[sets[0]].operation.op is not Op.SETP:
        return False
    compared = instructions[sets[0]]
    sums = dict(one.into[block])
    for point in one.points[block]:
        if point == sets[0]:
            break
        _apply(instructions[point], sums, {*one.written})
    counts = [
        isinstance(each, Immediate)
        or (isinstance(each, Register) and _is_count(sums.get(each, _Sum(each)), one, steps))
        for each in compared.operands[1:]
    ]
    return compared.guard is None and len(counts) == 2 and all(counts)


def _is_count(held: _Sum | None, one: _Round, steps: Mapping[Register, Step]) -> bool:
    """Tell whether a register holds the same function of the number of the round in each round."""
    if held is None or held.added in one.written:
        return False
    step = steps.get(held.base)
    return held.base not in one.written or (step is not None and not step.is_computed)


def _round(program: Program, loop: Loop) -> _Round:
    """Follow one round from the header to where it ends."""
    instructions = program.cfg.instructions
    points = {
        block: [p for p in program.cfg.blocks[block].points if p in program.points] for block in loop.blocks
    }
    written = {r for block in loop.blocks for p in points[block] for r in instructions[p].writes()}
    into: dict[int, _Sums] = {loop.header: {}}
    waiting = [loop.header]
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
    return _Round(points, frozenset(written), into, [*latches.values()])


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
