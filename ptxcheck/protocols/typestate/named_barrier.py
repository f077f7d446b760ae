"""Named barriers (`bar`, `barrier`): the sites of one kernel, and what any two of them do to one barrier.

Property: a `Site` has a number or a count only where every execution uses that one. `complete` says that no
other site can touch a barrier: none has an unknown number and no call can synchronise.

* `reused`: on a feasible path (see `paths`) a thread that arrived at a barrier comes to the same barrier
  again, and nothing in between could have told it that the barrier completed. The count is not one of which
  the arrival and what comes behind are two parts.
* `most_of_a_round`: no round of a barrier counts more threads.
* `concurrent`: two sites whose threads come from one common point without any synchronisation in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import (
    Execution,
    ThreadSet,
    Uniformity,
    forward,
)
from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import WARP, controlling
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...view import KernelView

OPS = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
ENTRY = -1
_STRONG = (Mod.RELAXED, Mod.ACQUIRE, Mod.VOLATILE, Mod.MMIO)
_TELLING = frozenset({Trait.BARRIER, Trait.WAIT, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING})


@dataclass(frozen=True, slots=True)
class Site:
    """One instruction on a named barrier. `count` is None when all threads of the block take part."""

    point: int
    op: Op
    number: int | None
    count: int | None
    count_known: bool
    execution: Execution


@dataclass(frozen=True)
class NamedBarriers:
    """The named barriers of one kernel."""

    view: KernelView

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """All sites that some run gets to, in program order."""
        points = (p for p, i in enumerate(self.view.cfg.instructions) if i.operation.op in OPS)
        return tuple(self._site(point) for point in points if not self.view.facts.never_runs(point))

    def _site(self, point: int) -> Site:
        facts, instruction = self.view.facts, self.view.cfg.instructions[point]
        count = instruction.get("threads")
        number = facts.constant(point, instruction.get("barrier"))
        known = None if count is None else facts.constant(point, count)
        if known == 0 and instruction.operation.op is not Op.BAR_ARRIVE:
            count, known = None, None
        return Site(
            point, instruction.operation.op, number, known, count is None or known is not None,
            facts.execution(point),
        )  # fmt: skip

    @cached_property
    def complete(self) -> bool:
        """Tell whether every site that can touch a barrier is known by its number."""
        unknown = any(Trait.ANYTHING in i.operation.traits for i in self.view.cfg.instructions)
        calls = any(summary.synchronises is not False for summary in self.view.facts.calls.values())
        return not unknown and not calls and all(site.number is not None for site in self.sites)

    def count_of(self, site: Site) -> int | None:
        """Return the threads that a site waits for, None when not known."""
        if site.count is not None or not site.count_known:
            return site.count
        return self.view.launch.threads

    # ---- a barrier that is touched again

    def reused(self) -> Iterator[tuple[Site, Site]]:
        """Yield an arrival and a later site of the same barrier that a thread reaches without being told."""
        known = [site for site in self.sites if site.number is not None]
        counts_each_part = {
            site.number: self._counts_each_part(site)
            for site in {site.number: site for site in known}.values()
        }
        for later in known:
            earlier = {
                site.point: site for site in known if site.op is Op.BAR_ARRIVE and site.number == later.number
            }
            if earlier and not counts_each_part[later.number]:
                query = Query(frozenset(earlier), frozenset({later.point}), self._telling)
                witness = self.view.get(Paths.of).find(query)
                if witness is not None and witness.first is not None:
                    yield earlier[witness.first], later

    def _counts_each_part(self, site: Site) -> bool:
        """Tell whether a barrier's count is that of all who arrive and all who wait, those who do both twice."""
        sites = [each for each in self.sites if each.number == site.number]
        threads = {each.point: self.exact_threads(each) for each in sites}
        if not self.complete or None in threads.values():
            return False
        arrivals = [each for each in sites if each.op is Op.BAR_ARRIVE]
        warps = {each.point: found.warps for each in sites if (found := threads[each.point]) is not None}
        waiting = {warp for each in sites if each.op is not Op.BAR_ARRIVE for warp in warps[each.point]}
        count = WARP * (len(waiting) + sum(len(warps[each.point]) for each in arrivals))
        return all(self.count_of(each) == count for each in sites) and not any(
            self._comes_back(each, self._telling) for each in arrivals
        )

    def most_of_a_round(self, number: int | None, block: int) -> int | None:
        """Return how many threads of a block one round counts at most, None for no limit.

        That is each thread once, and once more for each arrival of its before it waits.
        """
        key = (number, block)
        if key not in self._most:
            self._most[key] = self._most_of_a_round(number, block)
        return self._most[key]

    @cached_property
    def _most(self) -> dict[tuple[int | None, int], int | None]:
        return {}

    def _most_of_a_round(self, number: int | None, block: int) -> int | None:
        sites = [each for each in self.sites if number is None or each.number in (number, None)]
        waits = frozenset(each.point for each in sites if each.op is not Op.BAR_ARRIVE)
        closed = self._without_a_way_round(waits)
        most = block
        for arrival in (each for each in sites if each.op is Op.BAR_ARRIVE):
            if self.view.cfg.graph.block_of[arrival.point] not in closed and self._comes_back(arrival, waits):
                return None
            threads = self.exact_threads(arrival)
            most += block if threads is None else len(threads.warps) * WARP
        return most

    def _without_a_way_round(self, waits: frozenset[int]) -> frozenset[int]:
        """Return blocks that no thread runs through without a wait: no search need be made for their arrivals."""
        cfg = self.view.cfg
        return frozenset(cfg.graph.block_of[p] for p in waits if cfg.instructions[p].guard is None)

    def _comes_back(self, site: Site, barred: frozenset[int]) -> bool:
        """Tell whether a thread may come to a site again with no stop at other points."""
        if not self.view.cfg.reaches(site.point, site.point):
            return False
        query = Query(frozenset({site.point}), frozenset({site.point}), barred)
        return self.view.get(Paths.of).find(query) is not None

    def skips_loop(self, earlier: Site, later: Site) -> bool:
        """Tell whether every way from an arrival to a later site passes by a loop that would have told.

        Such a loop may be known to run at least once, for reasons that are not in the kernel.
        """
        cfg = self.view.cfg
        start = cfg.graph.block_of[earlier.point]
        seen: set[int] = set()
        work = [(start, earlier.point + 1)]
        while work:
            block, begin = work.pop()
            points = range(begin, cfg.blocks[block].end)
            stop = next((p for p in points if p == later.point or p in self._telling), None)
            if stop == later.point:
                return False
            if stop is not None:
                continue
            for target in cfg.successors[block]:
                if target != cfg.exit and target not in seen and (block, target) not in self._loop_skips:
                    seen.add(target)
                    work.append((target, cfg.blocks[target].start))
        return True

    @cached_property
    def _loop_skips(self) -> frozenset[tuple[int, int]]:
        """Edges from in front of a loop with a telling point straight to where the loop leads."""
        cfg = self.view.cfg
        found: set[tuple[int, int]] = set()
        for loop in cfg.loops:
            if not any(p in self._telling for block in loop.blocks for p in cfg.blocks[block].points):
                continue
            behind = {target for _, target in loop.exits} - {cfg.exit}
            behind |= {after for target in behind for after in cfg.successors[target]}
            found.update(
                (source, target)
                for target in behind - {cfg.exit}
                for source in cfg.predecessors[target]
                if source not in loop.blocks and cfg.dominators.dominates(source, loop.header)
            )
        return frozenset(found)

    @cached_property
    def _telling(self) -> frozenset[int]:
        return frozenset(p for p, i in enumerate(self.view.cfg.instructions) if _tells(i))

    # ---- two sites at one time

    def concurrent(self, a: Site, b: Site) -> bool:
        """Tell whether disjoint, exactly known sets of threads come to both sites with no order between."""
        first, second = self.exact_threads(a), self.exact_threads(b)
        if first is None or second is None or len(first & second) or not (len(first) and len(second)):
            return False
        if not self._same_conditions(a.point, b.point):
            return False
        return bool(self._last_meeting(a.point) & self._last_meeting(b.point))

    def exact_threads(self, site: Site) -> ThreadSet | None:
        """Return the threads that execute a site together, under a known block only."""
        known = self.view.launch.threads is not None and site.execution.exact
        return site.execution.threads if known else None

    def _same_conditions(self, a: int, b: int) -> bool:
        """Tell whether all branches over the two points go by the thread index, or are over both alike."""
        ways_a, ways_b = (set(controlling(self.view.cfg, self.view.cfg.graph.block_of[p])) for p in (a, b))
        guards = (self.view.cfg.instructions[p].guard for p in (a, b))
        if any(guard is not None for guard in guards):
            return False
        return all(self._by_index(branch) for branch, _ in ways_a ^ ways_b)

    def _by_index(self, block: int) -> bool:
        last = self.view.cfg.blocks[block].last
        guard = self.view.cfg.instructions[last].guard
        return guard is not None and self.view.facts.threads_where(last, guard.register) is not None

    def _last_meeting(self, point: int) -> frozenset[int]:
        """Return the points of common departure: the entry, or barriers of the whole block, with no
        synchronisation of any kind on some way from there."""
        state = self._departures.get(point)
        return frozenset() if state is None else state

    @cached_property
    def _departures(self) -> dict[int, frozenset[int]]:
        cfg = self.view.cfg
        everyone = {s.point for s in self.sites if s.op is not Op.BAR_ARRIVE and self._is_for_all(s)}

        def transfer(point: int, state: frozenset[int]) -> frozenset[int]:
            if point in everyone:
                return frozenset({point})
            return frozenset() if _tells(cfg.instructions[point]) else state

        states = forward(cfg, frozenset({ENTRY}), transfer, frozenset.union)
        wanted = {site.point for site in self.sites}
        return {point: state for point, state in states.each() if point in wanted}

    def _is_for_all(self, site: Site) -> bool:
        execution = site.execution
        whole = site.count_known and (site.count is None or site.count == self.view.launch.threads)
        return whole and execution.uniformity <= Uniformity.CTA


def _tells(instruction: Instruction) -> bool:
    """Tell whether an instruction may tell its thread what others have done."""
    operation = instruction.operation
    if operation.op is Op.BAR_ARRIVE:
        return False
    if operation.traits & _TELLING:
        return True
    return Trait.LOAD in operation.traits and any(operation.has(word) for word in _STRONG)


__all__ = ["OPS", "NamedBarriers", "Site"]
