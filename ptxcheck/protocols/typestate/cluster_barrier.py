"""The cluster barrier on one thread's paths: arrive, wait, arrive, wait, … to the end.

Property: each `Slip` is a path that some thread can take, as far as its guards tell (see `paths`). A call
that may synchronise ends every path: the callee may arrive or wait. Only kernels are looked at; what state a
device function begins in is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import EdgeKind, ThreadSet
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import WARP, controlling
from .named_barrier import NamedBarriers
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...view import KernelView

_PAIR = frozenset({Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT})
_BLOCK_WIDE = frozenset({Op.BAR_SYNC, Op.BAR_RED})
_STOPPING = frozenset({Trait.BARRIER, Trait.WAIT, Trait.CALL, Trait.ANYTHING})


@dataclass(frozen=True, slots=True)
class Slip:
    """A step that comes out of turn, and the step before it (None: the start of the kernel)."""

    point: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Stall:
    """A cluster barrier that some warps wait at while the others wait for them at a barrier of the block."""

    point: int
    threads: ThreadSet
    block_barrier: int


@dataclass(frozen=True)
class ClusterBarrier:
    """Steps of the cluster barrier in one kernel."""

    view: KernelView

    def points(self, op: Op) -> frozenset[int]:
        """Return the points of one kind of step that some run gets to."""
        instructions = enumerate(self.view.cfg.instructions)
        return frozenset(
            p for p, i in instructions if i.operation.op is op and not self.view.facts.never_runs(p)
        )

    @cached_property
    def arrivals(self) -> frozenset[int]:
        return self.points(Op.BARRIER_CLUSTER_ARRIVE)

    @cached_property
    def waits(self) -> frozenset[int]:
        return self.points(Op.BARRIER_CLUSTER_WAIT)

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """Points that may do anything to the barrier."""
        opaque = {p for p, i in enumerate(self.view.cfg.instructions) if Trait.ANYTHING in i.operation.traits}
        calls = {point for point, said in self.view.facts.calls.items() if said.synchronises is not False}
        return frozenset(opaque | calls)

    def waits_without_arrival(self) -> Iterator[Slip]:
        """Yield the waits that a thread reaches without having arrived, or twice after one arrival."""
        if not self.view.function.is_entry:
            return
        for wait in sorted(self.waits):
            for first in (None, self.waits):
                found = self._path(
                    first, wait, self.arrivals | (self.waits - {wait} if first is None else set())
                )
                if found is not None:
                    yield found
                    break

    def repeated_arrivals(self) -> Iterator[Slip]:
        """Yield the arrivals that a thread makes again with no wait since the last."""
        for arrival in sorted(self.arrivals):
            found = self._path(self.arrivals, arrival, self.waits)
            if found is not None:
                yield found

    def arrivals_without_wait(self) -> Iterator[Slip]:
        """Yield the ends of the kernel that a thread reaches between an arrival and its wait."""
        if not self.view.function.is_entry:
            return
        for end in self.view.cfg.exits:
            found = self._path(self.arrivals, end, self.waits)
            if found is not None:
                yield found

    def _path(
        self, first: frozenset[int] | None, then: int, barred: frozenset[int] | set[int]
    ) -> Slip | None:
        if first is not None and not first:
            return None
        query = Query(first, frozenset({then}), frozenset(barred) | self._unknown)
        witness = self.view.get(Paths.of).find(query)
        return None if witness is None else Slip(witness.then, witness.first)

    # ---- some warps of a block

    def stalls(self) -> Iterator[Stall]:
        """Yield the waits that never end: warps of a block wait for the others, which wait for them."""
        if self.view.launch.threads is None or self._unknown:
            return
        for wait in sorted(self.waits):
            execution = self.view.facts.execution(wait)
            threads = execution.threads
            whole = threads is not None and execution.exact and threads.whole(WARP)
            if threads is None or not whole or len(threads) == threads.size:
                continue
            barrier = self._meeting_of_the_others(wait)
            if barrier is not None:
                yield Stall(wait, threads, barrier)

    def _meeting_of_the_others(self, wait: int) -> int | None:
        """Return the barrier of the whole block that all other threads come to next, None when not sure."""
        cfg = self.view.cfg
        ways = controlling(cfg, cfg.graph.block_of[wait])
        if len(ways) != 1 or cfg.instructions[wait].guard is not None:
            return None
        branch, taken = ways[0]
        others = [edge.target for edge in cfg.edges_from(branch) if edge.target != taken]
        next_points = {point for target in others for point in self._next_stops(target)}
        barrier = next_points.pop() if len(next_points) == 1 else None
        if barrier is None or not self._is_block_wide(barrier):
            return None
        return barrier if wait in self._passed_before(taken, self._sites_of(barrier)) else None

    def _sites_of(self, barrier: int) -> frozenset[int]:
        """Return the instructions by which threads may take part in the same barrier of the block."""
        sites = self.view.get(NamedBarriers).sites
        number = next((site.number for site in sites if site.point == barrier), None)
        same = (site.point for site in sites if number is None or site.number in (number, None))
        return frozenset(same)

    def _is_block_wide(self, point: int) -> bool:
        instruction = self.view.cfg.instructions[point]
        if instruction.operation.op not in _BLOCK_WIDE or instruction.guard is not None:
            return False
        count = instruction.get("threads")
        return count is None or self.view.facts.constant(point, count) == self.view.launch.threads

    def _next_stops(self, block: int) -> frozenset[int]:
        """Return the first points on each path that may wait or end; -1 for the end of the kernel."""
        cfg = self.view.cfg
        found: set[int] = set()
        seen = {block}
        work = [block]
        while work:
            current = work.pop()
            if current == cfg.exit:
                found.add(-1)
                continue
            stop = next((p for p in cfg.blocks[current].points if self._stops(p)), None)
            if stop is not None:
                found.add(stop)
                continue
            targets = {e.target for e in cfg.edges_from(current) if e.kind is not EdgeKind.TRAP}
            work.extend(targets - seen)
            seen |= targets
        return frozenset(found)

    def _stops(self, point: int) -> bool:
        operation = self.view.cfg.instructions[point].operation
        return operation.op in _PAIR or bool(operation.traits & _STOPPING)

    def _passed_before(self, block: int, ends: frozenset[int]) -> frozenset[int]:
        """Return the points that are passed from a block on some way before any of `ends`."""
        cfg = self.view.cfg
        found: set[int] = set()
        seen = {block}
        work = [block]
        while work:
            current = work.pop()
            if current == cfg.exit:
                continue
            points = cfg.blocks[current].points
            end = next((p for p in points if p in ends), None)
            found.update(points if end is None else range(points[0], end))
            if end is not None:
                continue
            targets = set(cfg.successors[current])
            work.extend(targets - seen)
            seen |= targets
        return frozenset(found)


__all__ = ["ClusterBarrier", "Slip", "Stall"]
