"""Named barriers (`bar`, `barrier`): the sites of one kernel, and what any two of them do to one barrier.

Property: a `Site` has a number or a count only where every execution uses that one. `complete` says that no
other site can touch a barrier: none has an unknown number and no call can synchronise.

* `reused`: a thread that arrived at a barrier comes to the same barrier again, and nothing in between could
  have told it that the barrier completed.
* `concurrent`: two sites whose threads come from one common point without any synchronisation in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import Edge, Execution, ThreadSet, Uniformity, forward
from ...ir import Instruction
from ...isa.modifier import Mod
from ...op import Op
from ...spec import Trait
from .divergence import controlling

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
        by_point = {site.point: site for site in self.sites if site.number is not None}
        arrivals = {site.point for site in by_point.values() if site.op is Op.BAR_ARRIVE}
        if not arrivals:
            return
        cfg = self.view.cfg

        def transfer(point: int, open_arrivals: frozenset[int]) -> frozenset[int]:
            instruction = cfg.instructions[point]
            site = by_point.get(point)
            if site is not None and point in arrivals:
                return frozenset({point, *open_arrivals}) if instruction.guard is None else open_arrivals
            return frozenset() if _tells(instruction) else open_arrivals

        states = forward(cfg, frozenset[int](), transfer, frozenset.union, edge=self._certain)
        for point, pending in states.each():
            later = by_point.get(point)
            if later is None or cfg.instructions[point].guard is not None:
                continue
            for earlier in sorted(pending):
                if by_point[earlier].number == later.number:
                    yield by_point[earlier], later
                    break

    def _certain(self, edge: Edge, state: frozenset[int]) -> frozenset[int]:
        """Drop arrivals on edges that a condition decides: it may contradict the one that they are under."""
        return state if edge.guard is None or edge.source in self._only_tests else frozenset()

    @cached_property
    def _only_tests(self) -> frozenset[int]:
        """Blocks with the only conditional jump of a loop: a run of two rounds takes both ways."""
        cfg = self.view.cfg
        tests = [[b for b in loop.blocks if len(cfg.edges_from(b)) > 1] for loop in cfg.loops]
        return frozenset(found[0] for found in tests if len(found) == 1)

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
