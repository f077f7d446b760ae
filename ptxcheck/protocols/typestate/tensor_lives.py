"""Lives of allocations of tensor memory, from their making to their end (PTX ISA §9.7.17.7).

Property: nothing is yielded when in every run each allocation has a legal number of columns, is made once, by one warp,
before the permit is given up, none larger than one before it, and all of them fit together; and is freed once, from its
start, with its size: on every way to the end of the kernel of the warp that made it, or by another warp in the same
runs. What is freed was allocated; pairs are of clusters that have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from ...cfg import (
    Edge,
    EdgeKind,
    Name,
    ThreadSet,
    Uniformity,
)
from ...cfg.definitions import ENTRY
from ...ir import Register
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...verdict import AssumptionSource, Reason
from .divergence import controlling
from .joint_execution import SameRounds, Trip
from .judgement import Judgement, assumes, unknown
from .tensor_bounds import SLOT, TensorBounds
from .tensor_memory import (
    ALLOCATION,
    COLUMNS,
    LEGAL_COLUMNS,
    Pair,
    TensorMemory,
)
from .tensor_memory_use import TensorMemoryUse
from .value_numbering import SameNumbers

if TYPE_CHECKING:
    from ...view import KernelView

_MOST_QUESTIONS = 6
"""Predicates whose answers are combined."""
_FREED = "whether every way to the end of the kernel frees what is allocated here is not known"
_ORDINARY_LOADS = frozenset({Op.LD, Op.LDU, Op.LD_NC})
_OF_LAUNCH = frozenset({".param", ".const"})
"""Spaces whose contents are the same during a launch."""


class Lives:
    """Allocations, from their making to their end."""

    def __init__(self, view: KernelView, is_block_known: bool) -> None:
        self._view = view
        self._memory = view.get(TensorMemory)
        self._bounds = TensorBounds(view)
        self._numbers = SameNumbers(view)
        self._rounds = SameRounds(view)

    def judgements(self) -> Iterator[Judgement]:
        allocations = sorted(self._memory.allocations)
        for point in allocations:
            yield from self._made(point)
            yield from self._freed(point)
        yield from self._together(allocations)
        yield from self._permits(allocations)
        mixed = self._view.get(TensorMemoryUse).mixed_groups()
        if mixed is not None:
            yield unknown("instructions are of one CTA here, and of pairs elsewhere", mixed[1])

    def _made(self, point: int) -> Iterator[Judgement]:
        columns = self._memory.columns(point).constant
        if columns not in LEGAL_COLUMNS:
            yield unknown("the number of columns that are allocated is not known to be legal", point)
        if self._comes_back(point):
            yield unknown("how often a loop allocates is not followed", point)
        if self._warp(point) is None:
            yield unknown(f"whether one warp alone allocates is not known{self._of_block}", point)
        if self._view.body.instructions[point].operation.has(Mod.CTA_GROUP_2):
            yield from self._of_pair(point)

    def _of_pair(self, point: int) -> Iterator[Judgement]:
        size = self._view.launch.cluster_size
        if size is None:
            yield assumes("clusters have an even number of CTAs", point, AssumptionSource.LAUNCH)
        elif size % 2:
            yield unknown(f"a cluster of {size} CTAs has a CTA with no peer", point)
        for block, _ in controlling(self._view.cfg, self._view.cfg.graph.block_of[point]):
            last = self._view.cfg.blocks[block].last
            guard = self._view.body.instructions[last].guard
            if guard is None or self._holding(last, guard.register) is not None:
                continue
            if self._view.facts.uniform(last, guard.register) > Uniformity.CLUSTER:
                text = "both CTAs of a pair go the same way here, to allocate"
                yield assumes(text, last, AssumptionSource.ENVIRONMENT)

    def _freed(self, point: int) -> Iterator[Judgement]:
        """Yield why an allocation may live longer than its kernel, or be freed amiss."""
        columns, warp = self._memory.columns(point).constant, self._warp(point)
        slot = self._bounds.slot_of(point)
        frees = []
        for free in sorted(self._memory.deallocations):
            threads = self._view.facts.execution(free).threads
            if threads is not None and not len(threads):
                continue
            found = self._bounds.allocation_of(free)
            if found is None:
                yield unknown("which allocation is freed here is not followed", free)
                return
            if found.slot not in (None, slot):
                continue
            if self._memory.columns(free).constant != found.columns or found.columns != columns:
                yield unknown("whether as many columns are freed as were allocated is not known", free)
                return
            if not found.is_sure:
                yield assumes(SLOT, point, AssumptionSource.ENVIRONMENT)
            if self._warp(free) is None:
                yield unknown(f"whether one warp alone frees is not known{self._of_block}", free)
            if self._comes_back(free):
                yield unknown("how often a loop frees is not followed", free)
            frees.append(free)
        if len(self._memory.allocations) > 1 and len(frees) > 1:
            yield unknown("which of several allocations is freed here is not followed", frees[0])
        elif not frees:
            yield unknown(_FREED, point)
        elif warp is not None:
            yield from self._freed_once(point, warp, frees)

    def _freed_once(self, point: int, warp: ThreadSet, frees: list[int]) -> Iterator[Judgement]:
        slot = self._bounds.slot_of(point)
        same = [
            p for p in self._memory.allocations if slot is None or self._bounds.slot_of(p) in (None, slot)
        ]
        own = [free for free in frees if self._runs_for(free, warp)]
        for other in same:
            if other != point and self._may_reach(point, warp, other, {}, own):
                yield unknown("whether this is freed before the next allocation is not known", other)
        made = [p for p in same if self._runs_for(p, warp)]
        if any(self._may_reach(None, warp, free, {}, made) for free in own) or not self._is_freed_by(
            point, warp, own
        ):
            yield from self._freed_by_another(point, warp, frees)

    def _comes_back(self, point: int) -> bool:
        """Tell whether a thread may execute a point more than once."""
        if not self._view.cfg.reaches(point, point) and self._view.cfg.loop_of(point) is None:
            return False
        warp = self._warp(point)
        return warp is None or (
            self._may_reach(point, warp, point, {}) and not self._rounds.once(Trip(point, warp))
        )

    def _is_freed_by(self, point: int, warp: ThreadSet, own: list[int]) -> bool:
        """Tell whether a warp that allocates frees once, on all its ways to the end."""
        if not own or self._may_end(point, warp, own, {}):
            return False
        return not any(self._may_reach(one, warp, other, {}) for one in own for other in own)

    def _freed_by_another(self, point: int, warp: ThreadSet, frees: list[int]) -> Iterator[Judgement]:
        """Yield why another warp may not free in the same runs; what it rests on that it does."""
        other = self._warp(frees[0]) if len(frees) == 1 else None
        common = self._common_branches((point, *frees))
        found: frozenset[int] | None = None
        if other is not None and self._runs_for(frees[0], other) and self._runs_for(point, warp):
            made, freed = Trip(point, warp), Trip(frees[0], other)
            if all(self._goes_along(made, freed, ways) for ways in self._ways(common)):
                found = frozenset()
            else:
                found = self._rounds.together(made, freed, self._ways(common))
        if found is None:
            yield unknown(_FREED, point)
            return
        lasts = (
            self._view.cfg.blocks[block].last for block in common if not self._is_common(block, _OF_LAUNCH)
        )
        for last in sorted({*lasts, *found}):
            text = "all warps of a CTA find the same in global memory, for this branch"
            yield assumes(text, last, AssumptionSource.ENVIRONMENT)

    def _goes_along(self, made: Trip, freed: Trip, ways: Mapping[int, int]) -> bool:
        """Tell whether of two points both are surely passed by their warps, or none, when branches go given ways."""
        sides = [
            (
                not self._may_end(None, trip.warp, [trip.point], ways),
                not self._may_reach(None, trip.warp, trip.point, ways),
            )
            for trip in (made, freed)
        ]
        return all(passed for passed, _ in sides) or all(never for _, never in sides)

    def _common_branches(self, points: tuple[int, ...]) -> list[int]:
        """Return branches over some points at which the whole CTA goes one way, once."""
        cfg = self._view.cfg
        above = {block for point in points for block, _ in controlling(cfg, cfg.graph.block_of[point])}
        return [block for block in sorted(above) if self._is_common(block)]

    def _ways(self, blocks: list[int]) -> Iterator[Mapping[int, int]]:
        """Yield where branches may go together; those that ask the same go the same way."""
        asked = {block: self._asked(block) for block in blocks}
        questions = sorted(set(asked.values()))[:_MOST_QUESTIONS]
        for answers in product((False, True), repeat=len(questions)):
            answered = dict(zip(questions, answers, strict=True))
            yield {
                block: edge.target
                for block in blocks
                for edge in self._view.cfg.edges_from(block)
                if edge.guard is not None
                and asked[block] in answered
                and answered[asked[block]] != edge.guard.negated
            }

    def _asked(self, block: int) -> int:
        """Return what a branch asks, as a key of its predicate."""
        last = self._view.cfg.blocks[block].last
        guard = self._view.body.instructions[last].guard
        assert guard is not None
        return self._numbers.key(self._view.facts.name(last, guard.register))

    def _is_common(self, block: int, spaces: frozenset[str] = _OF_LAUNCH | {".global"}) -> bool:
        """Tell whether all threads take the same way at a branch: numbers in some spaces decide, outside loops."""
        cfg, facts = self._view.cfg, self._view.facts
        last = cfg.blocks[block].last
        guard = self._view.body.instructions[last].guard
        if (
            guard is None
            or cfg.loop_of(last) is not None
            or facts.uniform(last, guard.register) > Uniformity.CTA
        ):
            return False
        seen: set[Name] = set()
        work = [facts.name(last, guard.register)]
        while work:
            name = work.pop()
            if name in seen or name.site == ENTRY:
                continue
            seen.add(name)
            if name.phi_block is not None:
                return False
            instruction = self._view.body.instructions[name.site]
            traits, op = instruction.operation.traits, instruction.operation.op
            is_load = op in _ORDINARY_LOADS and instruction.operation.slots.get("space", "") in spaces
            if not (is_load or Trait.PURE in traits or op is Op.MOV):
                return False
            work.extend(facts.name(name.site, register) for register in instruction.reads())
        return True

    def _may_end(self, start: int | None, warp: ThreadSet, stops: list[int], ways: Mapping[int, int]) -> bool:
        """Tell whether a warp may come to its end from a point, or from the entry, without any of some points."""
        return self._walk(start, warp, frozenset(stops), None, ways)

    def _may_reach(
        self,
        start: int | None,
        warp: ThreadSet,
        goal: int,
        ways: Mapping[int, int],
        stops: Iterable[int] = (),
    ) -> bool:
        """Tell whether a warp may come to a goal from a point, or from the entry, without any of some points."""
        return self._walk(start, warp, frozenset(stops), goal, ways)

    def _walk(
        self,
        start: int | None,
        warp: ThreadSet,
        stops: frozenset[int],
        goal: int | None,
        ways: Mapping[int, int],
    ) -> bool:
        """Follow all ways that a warp can take, as far as its threads decide; to a point, or to the end (None)."""
        cfg = self._view.cfg
        first = 0 if start is None else cfg.graph.block_of[start]
        work = [(first, 0 if start is None else start + 1)]
        seen: set[int] = set()
        while work:
            block, begin = work.pop()
            points = [p for p in cfg.blocks[block].points if p >= begin]
            met = next((p for p in points if p == goal or p in stops), None)
            if met is not None:
                if met == goal:
                    return True
                continue
            for edge in cfg.edges_from(block):
                if edge.kind is EdgeKind.TRAP or ways.get(block, edge.target) != edge.target:
                    continue
                if not self._passes(cfg.blocks[block].last, edge, warp):
                    continue
                if edge.target == cfg.exit:
                    if goal is None:
                        return True
                elif edge.target not in seen:
                    seen.add(edge.target)
                    work.append((edge.target, cfg.blocks[edge.target].start))
        return False

    def _passes(self, last: int, edge: Edge, warp: ThreadSet) -> bool:
        """Tell whether some thread of a warp may take an edge."""
        if edge.guard is None:
            return True
        holding = self._holding(last, edge.guard.register, not edge.guard.negated)
        return holding is None or bool((holding & warp).bits)

    def _runs_for(self, point: int, warp: ThreadSet) -> bool:
        """Tell whether a warp that comes to a point executes it, whatever its guard."""
        guard = self._view.body.instructions[point].guard
        if guard is None:
            return True
        holding = self._holding(point, guard.register, not guard.negated)
        return holding is not None and not (warp - holding).bits

    def _holding(self, point: int, register: Register, truth: bool = True) -> ThreadSet | None:
        return self._view.facts.holding(self._view.facts.name(point, register), truth)

    def _together(self, allocations: list[int]) -> Iterator[Judgement]:
        sizes = {point: self._memory.columns(point).constant or COLUMNS for point in allocations}
        if sum(sizes.values()) > COLUMNS:
            yield unknown(f"whether all allocations fit into {COLUMNS} columns is not known", allocations[-1])
        for first in allocations:
            for then in allocations:
                if sizes[then] > sizes[first] and self._view.cfg.reaches(first, then):
                    yield unknown("a larger allocation may follow a smaller one", then)

    def _permits(self, allocations: list[int]) -> Iterator[Judgement]:
        for permit in sorted(self._memory.points[Op.TCGEN05_RELINQUISH_ALLOC_PERMIT]):
            for point in allocations:
                mine, its = self._warp(point), self._warp(permit)
                same = mine is not None and its is not None and mine.warps == its.warps
                if not same or self._view.cfg.reaches(permit, point):
                    yield unknown("whether the permit is given up before an allocation is not known", permit)

    def _warp(self, point: int) -> ThreadSet | None:
        """Return the threads of the only warp that may come to a point; None when it may be more."""
        threads = self._view.facts.execution(point).threads
        return threads if threads is not None and len(threads.warps) == 1 else None

    @property
    def _of_block(self) -> str:
        return (
            "" if self._view.launch.threads is not None else ": the block size is not, give it with --launch"
        )


def flaws_of_allocations(view: KernelView) -> Iterator[Reason]:
    """Yield what is surely wrong with the allocations of a kernel."""
    memory, use = view.get(TensorMemory), view.get(TensorMemoryUse)
    pairs: tuple[tuple[Callable[[], Iterable[Pair]], str], ...] = (
        (memory.never_freed, "a way to the end of the kernel does not free what is allocated here"),
        (memory.growing, "a larger allocation follows this one"),
        (memory.after_relinquish, "the permit is given up before an allocation"),
        (memory.oversubscribed, f"this allocation and a later one have more than {COLUMNS} columns"),
        (use.freed_twice, "what is freed here is freed a second time"),
        (use.lost_allocations, "the address of this allocation is overwritten before it is read"),
    )
    for find, text in pairs:
        yield from (Reason(text, pair.first) for pair in find())
    ctas = view.launch.cluster_size or 0
    for point in sorted(memory.of(ALLOCATION)) if ctas % 2 else ():
        if view.body.instructions[point].operation.has(Mod.CTA_GROUP_2):
            yield Reason(f"a cluster of {ctas} CTAs has a CTA with no peer", point)
    for point, columns in memory.wrong_sizes():
        yield Reason(f"{columns} columns are freed, which nothing allocates", point)
    for point, _ in use.freed_elsewhere():
        yield Reason("another address is freed than the start of the allocation", point)
    never = memory.never_allocated()
    if never is not None:
        yield Reason("tensor memory is used, and nobody allocates any", never)
    for point in sorted(memory.allocations):
        size = memory.columns(point)
        if not any(size.may_be(legal) for legal in LEGAL_COLUMNS):
            yield Reason(f"{size} columns are allocated: no power of two from 32 to {COLUMNS}", point)


__all__ = ["Lives", "flaws_of_allocations"]
