"""Branches on open predicates that nothing depends on which records an event: both sides are run and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ....cfg.graph import Edge
from ....ir import Component, Register
from ....opcodes.spec import Trait
from ..slice.loop_constants import keep_steady
from ..slice.loop_ends import Ends
from ..slice.loop_equivalence import keys_behind
from ..slice.sliced_program import Region
from ..values import lane_arithmetic as lanes
from ..values.register_file import SplitError
from ..values.substitution import failing
from ..values.symbol import (
    LANE,
    LOOPS,
    WARP,
    Form,
    Value,
)
from ..values.trace import ThreadSet
from .accesses import is_strong

if TYPE_CHECKING:
    from .machine import Machine

Held: TypeAlias = list[tuple[ThreadSet, Value]] | None
"""What threads hold in a register; None: it was not written."""
_Sides: TypeAlias = list[list[Held]]
"""What each side of a branch leaves in the registers of a region."""


class UndecidedBranches:
    """Joins the sides of branches in one CTA."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._program = machine.program
        self._registers = machine.registers

    def join(self, block: int, first: Edge, other: Edge, threads: ThreadSet, truth: Form) -> None:
        """Leave both sides of a branch behind, none of which records an event."""
        region = self._program.region(block)
        meeting = self._program.meets(region)
        if not region.counted or truth.differs:
            inside = threads & ~self._passing(block, first, other, truth)
            if not inside:
                return
            if meeting is not None and (truth.differs & LANE or self._machine.is_parted(meeting, threads)):
                self._machine.take_together(meeting)
            sides: _Sides = []
            if region.counted if region.cyclic else region.copies or region.predicates:
                sides = self._run_sides(block, region, (first, other), inside)
            else:
                self._machine.recorder.record_skipped(region, inside)
                for point in region.keeps:
                    self._machine.forget_stored(point, inside)
            self._forget(block, region, threads, truth)
            for register, one, two in zip(region.written, *sides, strict=True) if sides else ():
                if register in region.predicates:
                    merge(self._machine, register, one, two, threads, truth)
                else:
                    self._keep_equal(register, one, two, threads)
            return
        is_seen = meeting is not None or any(self._machine.recorder.accesses_of(region))
        if not (region.written or region.keeps or region.copies or is_seen):
            return
        sides = self._run_sides(block, region, (first, other), threads)
        for register, one, two in zip(region.written, *sides, strict=True):
            if one is not two:
                merge(self._machine, register, one, two, threads, truth)

    def _run_sides(self, block: int, region: Region, edges: tuple[Edge, Edge], threads: ThreadSet) -> _Sides:
        """Run both sides of a branch as far as the join, and return what each leaves in registers; these stay."""
        join = self._program.join(block)
        before = [self._registers.snapshot(register) for register in region.written]
        sides = []
        self._machine.decider.speculative += 1
        for edge in edges:
            if edge.target != join:
                self._machine.run_aside(block, edge.target, threads, join)
            sides.append([self._registers.snapshot(register) for register in region.written])
            for register, pieces in zip(region.written, before, strict=True):
                self._registers.restore(register, pieces)
        self._machine.decider.speculative -= 1
        return sides

    def _passing(self, block: int, first: Edge, other: Edge, truth: Form) -> ThreadSet:
        """Return threads that surely go from a branch to its join at once."""
        join = self._program.join(block)
        if other.target == join:
            return failing(truth, self._machine.threads)
        return failing(lanes.negate(truth), self._machine.threads) if first.target == join else 0

    def _keep_equal(self, register: Register, one: Held, two: Held, threads: ThreadSet) -> None:
        """Write what both sides of a branch give to a register alike."""
        if one is None or two is None:
            return
        for held, a in _pieces(register, one, threads):
            for both, b in _pieces(register, two, held):
                if a is b or (isinstance(a, int | Form) and isinstance(b, int | Form) and a == b):
                    self._registers.write(register, both, a)

    def _forget(self, block: int, region: Region, threads: ThreadSet, truth: Form) -> None:
        """Give what a region may write symbols of their own: the same for all threads if all that it reads is."""
        kept = keep_steady(self._machine, region, threads)
        differs = truth.differs | self._differs_into(region, threads)
        visit = self._machine.count(("region", block, threads))
        left = [register for register in region.written if register not in kept]
        kind = LOOPS[self._program.memory_read(block)]
        ends = {register: found for register in left if (found := self._ends_of(block, register, threads))}
        tells: dict[tuple[int, int | None], Register] = {}
        for register in sorted(ends, key=lambda each: ends[each].point):
            tells.setdefault(ends[register].blocks, register)
        left = [register for register in left if register not in ends or register in tells.values()]
        symbols: dict[Register, Form] = {}
        keys = keys_behind(self._machine, block, threads) if left else {}
        for register in left:
            key = (*keys[register], lanes.key_of(truth)) if register in keys else (block, register, visit)
            alike = differs & LANE and self._program.agrees_in_warps(self._program.join(block), register)
            own = differs & ~LANE if alike else differs
            name = self._program.loop_result(block, register, (*key, own))
            symbols[register] = lanes.opaque(kind, *name, differs=own)
            if register not in ends:
                self._registers.write(register, threads, symbols[register])
        for register, found in ends.items():
            is_first = lanes.compare(".ne", symbols[tells[found.blocks]], 0, 32, signed_operands=True)
            held = found.value(is_first, self._before(register, threads), self._machine.threads)
            assert held is not None
            self._registers.write(register, threads, held)

    def _ends_of(self, block: int, register: Register, threads: ThreadSet) -> Ends | None:
        """Return how a register tells which way a loop ended, None when it does not for these threads."""
        found = self._program.ends_of(block, register)
        known = (
            found is not None
            and found.value(0, self._before(register, threads), self._machine.threads) is not None
        )
        return found if known else None

    def _before(self, register: Register, threads: ThreadSet) -> Value | None:
        try:
            return self._registers.read(register, threads)
        except SplitError:
            return None

    def _differs_into(self, region: Region, threads: ThreadSet) -> int:
        found = 0
        for block in region.blocks:
            for point in self._program.steps[block]:
                if point not in self._program.points:
                    continue
                instruction = self._program.cfg.instructions[point]
                traits = instruction.operation.traits
                if (
                    Trait.ATOMIC in traits
                    or is_strong(instruction.operation)
                    or self._program.may_be_local(point)
                ):
                    return LANE | WARP
                for operand in instruction.operands:
                    if isinstance(operand, Component):
                        found |= lanes.differs_of(self._machine.value(operand, threads))
                for register in instruction.reads():
                    for _, value in self._machine.guard_pieces(register, threads):
                        found |= lanes.differs_of(value)
                if found == LANE | WARP:
                    return found
        return found


def merge(
    machine: Machine,
    register: Register,
    one: Held,
    two: Held,
    threads: ThreadSet,
    truth: Form,
) -> None:
    """Write what the sides of a branch leave in a register: each thread has what its own side gives it."""
    if one is None and two is None:
        return
    for held, a in _pieces(register, one, threads):
        for both, b in _pieces(register, two, held):
            if a is not b:
                machine.registers.write(register, both, lanes.choose(truth, a, b, machine.threads))
            else:
                machine.registers.write(register, both, a)


def _pieces(register: Register, held: Held, threads: ThreadSet) -> list[tuple[ThreadSet, Value]]:
    """Return what threads hold in a register of which this is the snapshot."""
    found = [(part, value) for mask, value in held or [] if (part := mask & threads)]
    for part, _ in found:
        threads &= ~part
    return [*found, (threads, lanes.undefined(register))] if threads else found
