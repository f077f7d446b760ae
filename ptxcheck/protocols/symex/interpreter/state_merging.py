"""Branches on open predicates that nothing depends on which records an event: both sides are run and joined.

Property: behind such a branch each register holds a value that stands for what either side leaves in it.

Argument: where the region can be run, both sides are, and a register is the choice between them; a region with loops
that cannot is not followed, and what it may write becomes a symbol of its own: a number where every round gives it
one (`loop_constants`), the same symbol where the same is computed (`loop_equivalence`), or what tells how it ended.

Not covered: what a region that is not followed stores; kept stores in it leave open what is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

from ....cfg.graph import Edge
from ....ir import Component, Register
from ....opcodes.spec import Trait
from ..slice.accesses import is_strong
from ..slice.loop_ends import Ends
from ..slice.regions import Region
from ..values import lane_arithmetic as lanes
from ..values.merging import Held, merge, pieces_of
from ..values.register_file import SplitError
from ..values.substitution import failing
from ..values.symbol import LANE, LOOPS, WARP, Form, Value
from ..values.trace import ThreadSet
from .execution import Execution
from .loop_constants import keep_steady
from .loop_equivalence import keys_behind

_Sides: TypeAlias = list[list[Held]]
"""What each side of a branch leaves in the registers of a region."""
RunAside: TypeAlias = Callable[[int, int, ThreadSet, int], None]
"""Runs one side of a branch as far as the join: block of the branch, first block of the side, threads, join."""


class UndecidedBranches:
    """Joins the sides of branches in one CTA."""

    def __init__(self, execution: Execution, run_aside: RunAside) -> None:
        self._execution = execution
        self._cta = execution.cta
        self._program = execution.cta.program
        self._registers = execution.cta.registers
        self._run_aside = run_aside

    @cached_property
    def _apart(self) -> Execution:
        """Executes for the same CTA what needs nothing but computing."""
        return Execution(self._cta.apart())

    def join(self, block: int, first: Edge, other: Edge, threads: ThreadSet, truth: Form) -> None:
        """Leave both sides of a branch behind, none of which records an event."""
        region = self._program.regions.of(block)
        meeting = self._program.regions.collective_in(region)
        if not region.counted or truth.differs:
            inside = threads & ~self._passing(block, first, other, truth)
            if not inside:
                return
            if meeting is not None and (truth.differs & LANE or self._cta.parted.threads(meeting, threads)):
                self._execution.events.take_together(meeting)
            sides: _Sides = []
            computes = region.copies or region.predicates or (region.places and meeting is None)
            if region.counted if region.cyclic else computes:
                sides = self._run_sides(block, region, (first, other), inside)
            else:
                self._execution.accesses.record_skipped(region, inside)
                for point in region.keeps:
                    self._cta.shared.forget(point, inside)
            self._forget(block, region, threads, truth)
            for register, one, two in zip(region.written, *sides, strict=True) if sides else ():
                if register in region.predicates:
                    merge(self._registers, register, one, two, threads, truth)
                else:
                    self._keep_equal(register, one, two, threads)
            return
        is_seen = meeting is not None or any(self._execution.accesses.accesses_of(region))
        if not (region.written or region.keeps or region.copies or is_seen):
            return
        sides = self._run_sides(block, region, (first, other), threads)
        for register, one, two in zip(region.written, *sides, strict=True):
            if one is not two:
                merge(self._registers, register, one, two, threads, truth)

    def _run_sides(self, block: int, region: Region, edges: tuple[Edge, Edge], threads: ThreadSet) -> _Sides:
        """Run both sides of a branch as far as the join, and return what each leaves in registers; these stay."""
        join = self._program.regions.join(block)
        before = [self._registers.snapshot(register) for register in region.written]
        sides = []
        self._cta.decider.speculative += 1
        for edge in edges:
            if edge.target != join:
                self._run_aside(block, edge.target, threads, join)
            sides.append([self._registers.snapshot(register) for register in region.written])
            for register, pieces in zip(region.written, before, strict=True):
                self._registers.restore(register, pieces)
        self._cta.decider.speculative -= 1
        return sides

    def _passing(self, block: int, first: Edge, other: Edge, truth: Form) -> ThreadSet:
        """Return threads that surely go from a branch to its join at once."""
        join = self._program.regions.join(block)
        if other.target == join:
            return failing(truth, self._cta.threads)
        return failing(lanes.negate(truth), self._cta.threads) if first.target == join else 0

    def _keep_equal(self, register: Register, one: Held, two: Held, threads: ThreadSet) -> None:
        """Write what both sides of a branch give to a register."""
        if one is None or two is None:
            return
        for held, a in pieces_of(register, one, threads):
            for both, b in pieces_of(register, two, held):
                if a is b or (isinstance(a, int | Form) and isinstance(b, int | Form) and a == b):
                    self._registers.write(register, both, a)

    def _forget(self, block: int, region: Region, threads: ThreadSet, truth: Form) -> None:
        """Give what a region may write symbols of their own: the same for all threads if all that it reads is."""
        kept = keep_steady(self._cta, region, threads)
        differs = truth.differs | self._differs_into(region, threads)
        visit = self._cta.visits.count(("region", block, threads))
        left = [register for register in region.written if register not in kept]
        kind = LOOPS[self._program.regions.memory_read(block)]
        ends = {register: found for register in left if (found := self._ends_of(block, register, threads))}
        tells: dict[tuple[int, int | None], Register] = {}
        for register in sorted(ends, key=lambda each: ends[each].point):
            tells.setdefault(ends[register].blocks, register)
        left = [register for register in left if register not in ends or register in tells.values()]
        symbols: dict[Register, Form] = {}
        keys = keys_behind(self._cta, lambda: self._apart, block, threads) if left else {}
        start = self._start(block, threads) if any(register not in keys for register in left) else ()
        for register in left:
            own_key = keys.get(register, (block, register, visit, *start))
            key = (*own_key, lanes.key_of(truth))
            is_uniform = differs & LANE and self._program.is_warp_uniform(
                self._program.regions.join(block), register
            )
            own = differs & ~LANE if is_uniform else differs
            name = self._program.loop_results.name(block, register, (*key, own))
            symbols[register] = lanes.opaque(kind, *name, differs=own)
            if register not in ends:
                self._registers.write(register, threads, symbols[register])
        for register, found in ends.items():
            is_first = lanes.compare(".ne", symbols[tells[found.blocks]], 0, 32, signed_operands=True)
            held = found.value(is_first, self._before(register, threads), self._cta.threads)
            assert held is not None
            self._registers.write(register, threads, held)

    def _start(self, block: int, threads: ThreadSet) -> tuple[object, ...]:
        """Return what threads hold in the registers that a region may read: it leaves other numbers for others."""
        found: list[object] = []
        for register in self._program.regions.read_into(block):
            pieces = self._cta.operands.pieces(register, threads)
            held = lanes.key_of(pieces[0][1]) if len(pieces) == 1 else None
            found.append(
                tuple((part, lanes.key_of(value)) for part, value in pieces) if held is None else held
            )
        return tuple(found)

    def _ends_of(self, block: int, register: Register, threads: ThreadSet) -> Ends | None:
        """Return how a register tells which way a loop ended, None when it does not for these threads."""
        found = self._program.regions.ends_of(block, register)
        known = (
            found is not None
            and found.value(0, self._before(register, threads), self._cta.threads) is not None
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
            for point in self._program.regions.steps[block]:
                if point not in self._program.points:
                    continue
                instruction = self._program.cfg.instructions[point]
                traits = instruction.operation.traits
                if (
                    Trait.ATOMIC in traits
                    or is_strong(instruction.operation)
                    or self._program.rewrites.is_of(point)
                    or self._program.may_be_local(point)
                ):
                    return LANE | WARP
                for operand in instruction.operands:
                    if isinstance(operand, Component):
                        found |= lanes.differs_of(self._cta.operands.value(operand, threads))
                for register in instruction.reads():
                    for _, value in self._cta.operands.pieces(register, threads):
                        found |= lanes.differs_of(value)
                if found == LANE | WARP:
                    return found
        return found
