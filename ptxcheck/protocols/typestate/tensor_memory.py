"""Tensor memory on one thread's paths: allocation, loads and stores, commits.

Property: what is reported happens on a path that some thread can take (see `paths`); and where a rule says
that something is never done, no other thread of the block does it either. A call that may synchronise ends
what is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import (
    AtomKind,
    EdgeKind,
    Uniformity,
    Value,
)
from ...ir import Guard, Register
from ...isa.modifier import Mod
from ...opcodes.op import Op
from .in_flight import InFlight, Touch, Work
from .paths import Paths, Query
from .register_flow import unknown_calls

if TYPE_CHECKING:
    from ...view import KernelView

COLUMNS = 512
LEGAL_COLUMNS = (32, 64, 128, 256, 512)
LOADS = frozenset({Op.TCGEN05_LD, Op.TCGEN05_LD_RED})
MULTIPLICATIONS = frozenset(
    {Op.TCGEN05_MMA, Op.TCGEN05_MMA_SP, Op.TCGEN05_MMA_WS, Op.TCGEN05_MMA_WS_SP}
)  # fmt: skip
ASYNCHRONOUS = MULTIPLICATIONS | {Op.TCGEN05_CP, Op.TCGEN05_SHIFT}
"""What one thread issues, and a commit of that thread covers."""
ISSUED_ONCE = ASYNCHRONOUS | {Op.TCGEN05_COMMIT}
ALLOCATION = frozenset({Op.TCGEN05_ALLOC, Op.TCGEN05_DEALLOC, Op.TCGEN05_RELINQUISH_ALLOC_PERMIT})
WARP_WIDE = ALLOCATION | LOADS | {Op.TCGEN05_ST, Op.TCGEN05_WAIT}
TENSOR_MEMORY = ISSUED_ONCE | WARP_WIDE | {Op.TCGEN05_FENCE}
_USES = ASYNCHRONOUS | LOADS | {Op.TCGEN05_ST}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two points on one path, in order."""

    first: int
    then: int


@dataclass(frozen=True)
class TensorMemory:
    """The tcgen05 instructions of one kernel."""

    view: KernelView

    @cached_property
    def points(self) -> Mapping[Op, frozenset[int]]:
        """Points of each kind of instruction that some run gets to."""
        found: dict[Op, set[int]] = {op: set() for op in TENSOR_MEMORY}
        for point, instruction in enumerate(self.view.body.instructions):
            if instruction.operation.op in TENSOR_MEMORY and not self.view.facts.never_runs(point):
                found[instruction.operation.op].add(point)
        return {op: frozenset(points) for op, points in found.items()}

    def of(self, ops: frozenset[Op]) -> frozenset[int]:
        return frozenset(point for op in ops for point in self.points[op])

    @property
    def allocations(self) -> frozenset[int]:
        return self.points[Op.TCGEN05_ALLOC]

    @property
    def deallocations(self) -> frozenset[int]:
        return self.points[Op.TCGEN05_DEALLOC]

    def columns(self, point: int) -> Value:
        return self.view.facts.value(point, self.view.body.instructions[point].get("columns"))

    @cached_property
    def _unknown(self) -> frozenset[int]:
        return unknown_calls(self.view)

    def _path(
        self, first: frozenset[int] | None, then: frozenset[int], barred: frozenset[int]
    ) -> Pair | None:
        """Return the ends of a feasible path that passes no barred point and no unknown call."""
        if not then or (first is not None and not first):
            return None
        witness = self.view.get(Paths.of).find(Query(first, then, barred | self._unknown))
        if witness is None:
            return None
        return Pair(-1 if witness.first is None else witness.first, witness.then)

    # ---- allocation

    def never_freed(self) -> Iterator[Pair]:
        """Yield (allocation, end of the kernel) where nobody frees between."""
        if not self.view.function.is_entry or self._unknown:
            return
        for allocation in sorted(self.allocations):
            if not any(i.operation.op is Op.TCGEN05_DEALLOC for i in self.view.body.instructions):
                end = next((e for e in self.view.cfg.exits if self.view.cfg.reaches(allocation, e)), None)
                if end is not None:
                    yield Pair(allocation, end)
                continue
            for ends, barred in self._ways_without_free(allocation):
                found = self._path(frozenset({allocation}), ends, barred)
                if found is not None:
                    yield found
                    break

    def _ways_without_free(self, allocation: int) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Yield ends of the kernel, and points to leave out, of ways on which no thread frees."""
        cfg = self.view.cfg
        if not self.deallocations:
            yield frozenset(cfg.exits), frozenset()
            return
        for block in cfg.blocks:
            if len(cfg.successors[block.index]) < 2 or not self._is_taken_together(block.last):
                continue
            between = cfg.reaches(allocation, block.last) and not cfg.reaches(block.last, allocation)
            if between and not any(cfg.reaches(d, block.last) for d in self.deallocations):
                yield from self._early_ways(block.index)

    def _is_taken_together(self, branch: int) -> bool:
        """Tell whether all threads of the block come to a branch once, and go the same way there."""
        guard = self.view.body.instructions[branch].guard
        controls = self.view.cfg.control[self.view.cfg.graph.block_of[branch]]
        if guard is None or controls or self.view.cfg.loop_of(branch) is not None:
            return False
        return self.view.facts.uniform(branch, guard.register) <= Uniformity.CTA

    def _early_ways(self, branch: int) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Yield the ends behind one way of a branch that leads to no deallocation, and the other ways."""
        cfg = self.view.cfg
        ways = [edge.target for edge in cfg.edges_from(branch) if edge.kind is not EdgeKind.TRAP]
        for target in ways:
            others = [t for t in cfg.successors[branch] if t not in (target, cfg.exit)]
            barred = frozenset(cfg.blocks[t].start for t in others)
            if target == cfg.exit:
                yield frozenset({cfg.blocks[branch].last}), barred
                continue
            start = cfg.blocks[target].start
            if not any(d == start or cfg.reaches(start, d) for d in self.deallocations):
                yield frozenset(e for e in cfg.exits if e == start or cfg.reaches(start, e)) - barred, barred

    def wrong_sizes(self) -> Iterator[tuple[int, int]]:
        """Yield (deallocation, columns) where no allocation of the kernel has as many."""
        if not self.allocations or self._unknown:
            return
        sizes = [self.columns(point) for point in self.allocations]
        for point in sorted(self.deallocations):
            count = self.columns(point).constant
            if count is not None and not any(size.may_be(count) for size in sizes):
                yield point, count

    def growing(self) -> Iterator[Pair]:
        """Yield allocations in turn of which the second is surely larger."""
        for then in sorted(self.allocations):
            smaller = frozenset(p for p in self.allocations if self.columns(p).high < self.columns(then).low)
            found = self._path(smaller, frozenset({then}), frozenset())
            if found is not None:
                yield found

    def after_relinquish(self) -> Iterator[Pair]:
        """Yield allocations that a thread makes after it gave up the permit."""
        given_up = self.points[Op.TCGEN05_RELINQUISH_ALLOC_PERMIT]
        for allocation in sorted(self.allocations):
            found = self._path(given_up, frozenset({allocation}), given_up)
            if found is not None:
                yield found

    def oversubscribed(self) -> Iterator[Pair]:
        """Yield allocations in turn that do not fit together, where nobody can free the first."""
        for then in sorted(self.allocations):
            if not all(self._comes_later(then, point) for point in self.deallocations):
                continue
            low = self.columns(then).low
            many = frozenset(p for p in self.allocations if self.columns(p).low + low > COLUMNS)
            found = self._path(many, frozenset({then}), self.deallocations)
            if found is not None:
                yield found

    def _comes_later(self, allocation: int, deallocation: int) -> bool:
        """Tell whether no thread gets to a deallocation without having passed the allocation."""
        cfg, facts = self.view.cfg, self.view.facts
        guard = self.view.body.instructions[allocation].guard
        if guard is None and cfg.dominates(allocation, deallocation):
            return True
        here, there = facts.execution(allocation), facts.execution(deallocation)
        if here.threads is None or there.threads is None or not here.exact:
            return False
        if cfg.reaches(deallocation, allocation) or not cfg.reaches(allocation, deallocation):
            return False
        return not len(there.threads - here.threads)

    def never_allocated(self) -> int | None:
        """Return the first use of tensor memory in a kernel in which nobody allocates any."""
        if not self.view.function.is_entry or self._unknown or self.view.cfg.calls:
            return None
        if any(i.operation.op is Op.TCGEN05_ALLOC for i in self.view.body.instructions):
            return None
        return min(self.of(_USES) | self.deallocations, default=None)

    # ---- loads and stores

    @property
    def early_uses(self) -> tuple[Touch, ...]:
        """Accesses to the registers of a load that has not been waited for."""
        return self._loads.touches

    @property
    def open_uses(self) -> tuple[int, ...]:
        """Points of such accesses on some path, whether a thread can take it or not."""
        return self._loads.open_accesses

    @cached_property
    def _loads(self) -> InFlight:
        started = {point: self._loaded(point) for op in LOADS for point in self.points[op]}
        waits = {p: 0 for p in self.points[Op.TCGEN05_WAIT] if self._has(p, Mod.WAIT_LD)}
        return InFlight(self.view, Work(started, None, waits, chains=True))

    def _loaded(self, point: int) -> frozenset[Register]:
        return frozenset(self.view.body.instructions[point].writes())

    def _has(self, point: int, modifier: Mod) -> bool:
        return self.view.body.instructions[point].operation.has(modifier)

    @cached_property
    def store_waits(self) -> frozenset[int]:
        """Waits for the stores of a thread."""
        return frozenset(p for p in self.points[Op.TCGEN05_WAIT] if self._has(p, Mod.WAIT_ST))

    def unawaited_stores(self) -> Iterator[Pair]:
        """Yield (store, end of the thread, deallocation, or load of the same place) with no wait between."""
        stores = self.points[Op.TCGEN05_ST]
        ends = frozenset(self.view.cfg.exits) | self.deallocations
        for load in sorted(self.of(LOADS)):
            found = self._stored_before(load)
            if found is not None:
                yield found
        last = self._path(stores, ends, self.store_waits | stores)
        if last is not None:
            yield last

    def _stored_before(self, load: int) -> Pair | None:
        place = self._address(load)
        if place is None:
            return None
        computed = (
            frozenset(a.at for a, _ in place.linear.terms if a.at >= 0) if place.linear else frozenset()
        )
        same = frozenset(
            p
            for p in self.points[Op.TCGEN05_ST]
            if (other := self._address(p)) is not None and other.linear == place.linear
        )
        return self._path(same, frozenset({load}), self.store_waits | computed | same)

    def _address(self, point: int) -> Value | None:
        """Return the address of an access, None when loops may change it between two points."""
        value = self.view.facts.value(point, self.view.body.instructions[point].get("taddr"))
        if value.linear is None or any(atom.kind is AtomKind.PHI for atom, _ in value.linear.terms):
            return None
        return value

    # ---- work of one thread

    def commits_guarded_by(self, point: int, guard: Guard) -> frozenset[int]:
        """Return the commits with the guard that a point has: they are executed by who has executed the point."""
        name = self.view.facts.name(point, guard.register)
        return frozenset(
            commit
            for commit in self.points[Op.TCGEN05_COMMIT]
            if (other := self.view.body.instructions[commit].guard) is not None
            and other.negated == guard.negated
            and self.view.facts.name(commit, other.register) == name
        )

    def uncommitted(self) -> Pair | None:
        """Return (asynchronous operation, end of its thread) with no commit between."""
        issued = self.of(ASYNCHRONOUS)
        if not self.view.function.is_entry:
            return None
        commits = self.points[Op.TCGEN05_COMMIT]
        stops = frozenset(stop for point in commits for stop in self._elections(point))
        return self._path(issued, frozenset(self.view.cfg.exits), commits | (stops - issued) | issued)

    def _elections(self, commit: int) -> Iterator[int]:
        """Yield points behind which an elected thread surely commits, in front of the branch that elects it.

        What was issued before came from the elected thread, too. The search finds that out by itself, but later.
        """
        cfg, facts = self.view.cfg, self.view.facts
        if not facts.execution(commit).elected:
            return
        block = cfg.block_at(commit)
        found = (
            [range(commit + 1, block.end)] if self.view.body.instructions[commit].guard is not None else []
        )
        for dependence in () if found else cfg.control[block.index]:
            branch = cfg.blocks[dependence.branch]
            if not facts.execution(branch.last).elected:
                found.append(branch.points)
        for points in found:
            after = max((p for p in points if self._is_issue(p)), default=points.start - 1)
            yield from (p for p in points if p > after and self.view.body.instructions[p].guard is None)

    def _is_issue(self, point: int) -> bool:
        return self.view.body.instructions[point].operation.op in ASYNCHRONOUS


__all__ = [
    "ALLOCATION", "ASYNCHRONOUS", "COLUMNS", "ISSUED_ONCE", "LEGAL_COLUMNS", "LOADS", "TENSOR_MEMORY",
    "WARP_WIDE", "Pair", "TensorMemory",
]  # fmt: skip
