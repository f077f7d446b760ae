"""Ranks that threads make of counts and their prefix sums: those of two threads differ.

Property: for two threads that come to two sites, what `Ranks.known` says of what they loaded is true, in every run
without a race before: place plus count of the one is not place plus count of the other, and both are below the number
of all counts.

Argument: in the barrier intervals before some barrier, each thread sets fields of words in shared memory to 0, and does
nothing else to them than adding 1 to some: what it loads for that, its *count*, is less than what lies in the field at
the barrier (`counted`). From there on all threads run through further barriers, whatever lies in the words, to one
behind which each field has the sum of all fields before it in some order (`segment_run`, `sums_of_words`): fields of
words have enough bits for the sum of all. A thread loads its *place* from the field there. Two threads have counted in
different fields, as they would race else; so one has a place that is at least the place of the other plus all that was
counted in its field, which is more than its count.

That all this is of the same rounds is seen from dominance: the intervals, barriers and loads follow each other on each
path, and the loads are in the same loops. All threads of the block come to the first barrier each time: no branch over
it lets some threads end.

Not covered: counts by atomic operations, counts and places in registers only, several kernels' worth of other stores
between: nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ...cfg import Name, Uniformity
from ...ir import Address, Register
from ...launch import Dim
from ...terms.bitvectors import Bits
from .accesses import Access, Action
from .block_steps import Steps
from .counting import Counted, Counting
from .intervals import Interval, TooManyVisitsError, intervals
from .kernel import Kernel
from .meetings import Meetings
from .mirrored import one_thread
from .passages import Context, Round
from .segment_run import SegmentRun
from .semantics import fitted
from .sites import Site
from .sums_of_words import NOTHING, Words, are_exclusive_sums
from .thread_terms import ThreadTerms


@dataclass(frozen=True, slots=True)
class Rank:
    """Two loads of one field: what was counted before, and the sum of all fields before."""

    count: Name
    place: Name
    total: int
    """How many are counted at most, in all fields together."""


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Segments:
    """The barrier intervals of a kernel, by the barrier that each begins with."""

    every: Mapping[int | None, Interval]
    ends: Mapping[int | None, set[int | None]]
    """Barriers that they lead to; None for the end of a thread."""
    points: Mapping[int | None, frozenset[int]]

    def of(self, point: int) -> frozenset[int | None]:
        """Return the intervals that a point is in."""
        return frozenset(start for start, its in self.points.items() if point in its)

    def entering(self, barrier: int) -> frozenset[int | None]:
        """Return the intervals that lead to a barrier."""
        return frozenset(start for start, ends in self.ends.items() if barrier in ends)


_Key = tuple[Context, Context, tuple[Rank, ...], tuple[Rank, ...], tuple[ThreadTerms, ThreadTerms]]


class Ranks:
    """The ranks of one kernel in one block."""

    def __init__(
        self,
        kernel: Kernel,
        accesses: Sequence[Access],
        agreed: frozenset[int],
        steps: Steps,
        block: Dim,
    ) -> None:
        self._kernel = kernel
        self._accesses = {access.point: access for access in accesses}
        self._meetings = Meetings(kernel.facts, Uniformity.CTA, agreed)
        self._steps = steps
        self._block = block
        self._made: dict[_Key, tuple[Bits, ...]] = {}

    @cached_property
    def all(self) -> tuple[Rank, ...]:
        """Return the ranks that are shown to differ."""
        candidates = [*self._candidates()]
        if not candidates:
            return ()
        try:
            return tuple(self._shown(candidates))
        except TooManyVisitsError:
            return ()

    # ---- what is known of two sites

    def known(self, threads: tuple[ThreadTerms, ThreadTerms], a: Site, b: Site) -> tuple[Bits, ...]:
        """Return what ranks say of what two threads loaded that come to two sites."""
        mine, its = self._before(a), self._before(b)
        if not mine and not its:
            return ()
        key = (a.context, b.context, mine, its, threads)
        if key not in self._made:
            self._made[key] = tuple(self._claims(threads, (a.context, b.context), mine, its))
        return self._made[key]

    def _before(self, site: Site) -> tuple[Rank, ...]:
        """Return the ranks that a thread has made when it comes to a site, in the rounds of the interval's start."""
        point, cfg = site.access.point, self._kernel.cfg
        block = cfg.graph.block_of[point]

        def is_of_this_round(rank: Rank) -> bool:
            for loop in cfg.loops_around(cfg.graph.block_of[rank.place.site]):
                passage = site.context.of(loop.index)
                if passage is None and block in loop.blocks:
                    return False
                if passage is not None and passage.round is not Round.HELD:
                    return False
            return True

        return tuple(
            rank for rank in self.all
            if rank.place.site != point and cfg.dominates(rank.place.site, point) and is_of_this_round(rank)
        )  # fmt: skip

    def _claims(
        self,
        threads: tuple[ThreadTerms, ThreadTerms],
        contexts: tuple[Context, Context],
        mine: Sequence[Rank],
        its: Sequence[Rank],
    ) -> Iterator[Bits]:
        pool = self._kernel.pool
        ones = [*self._numbers(threads[0], contexts[0], mine)]
        twos = [*self._numbers(threads[1], contexts[1], its)]
        for number, total in (*ones, *twos):
            yield pool.ult(number, pool.number(total, 32))
        for one, _ in ones:
            for two, _ in twos:
                yield pool.not_(pool.eq(one, two))
        for thread, context, ranks in zip(threads, contexts, (mine, its), strict=True):
            for rank in ranks:
                for name in (rank.count, rank.place):
                    value = thread.value(name, context)
                    if value is not None:
                        yield pool.ult(fitted(pool, value, 32), pool.number(rank.total, 32))

    def _numbers(
        self, thread: ThreadTerms, context: Context, ranks: Sequence[Rank]
    ) -> Iterator[tuple[Bits, int]]:
        pool = self._kernel.pool
        for rank in ranks:
            count, place = thread.value(rank.count, context), thread.value(rank.place, context)
            if count is not None and place is not None:
                yield pool.add(fitted(pool, count, 32), fitted(pool, place, 32)), rank.total

    # ---- how they are shown

    def _candidates(self) -> Iterator[tuple[int, int]]:
        """Yield two loads of one address, before the first one's place in memory is stored to and behind."""
        cfg = self._kernel.cfg
        at: dict[tuple[Name, int, int], list[Access]] = {}
        for access in self._accesses.values():
            address = access.address
            if isinstance(address, Address) and isinstance(address.base, Register):
                name = self._kernel.facts.name(access.point, address.base)
                at.setdefault((name, address.offset, access.size), []).append(access)
        for accesses in at.values():
            loads = [
                access.point for access in accesses
                if access.action is Action.READ
                and isinstance(cfg.instructions[access.point].operands[0], Register)
            ]  # fmt: skip
            stores = [access.point for access in accesses if access.action is Action.WRITE]
            for count in loads:
                block = cfg.graph.block_of[count]
                if any(store > count and cfg.graph.block_of[store] == block for store in stores):
                    for place in loads:
                        if (
                            place != count
                            and cfg.dominates(count, place)
                            and self._are_in_same_loops(count, place)
                        ):
                            yield count, place

    def _are_in_same_loops(self, count: int, place: int) -> bool:
        """Tell whether two points are in the same loops."""
        one, two = (
            {loop.index for loop in self._kernel.cfg.loops_around(self._kernel.cfg.graph.block_of[point])}
            for point in (count, place)
        )
        return one == two

    def _shown(self, candidates: Sequence[tuple[int, int]]) -> Iterator[Rank]:
        every = {interval.start: interval for interval in intervals(self._kernel, self._meetings)}
        segments = _Segments(
            every,
            {start: {*each.ends} for start, each in every.items()},
            {start: frozenset(_points(each)) for start, each in every.items()},
        )
        groups: dict[frozenset[int | None], list[tuple[int, int]]] = {}
        for count, place in candidates:
            groups.setdefault(segments.of(count), []).append((count, place))
        for counting, group in groups.items():
            yield from self._shown_together(segments, counting, group)

    def _shown_together(
        self, segments: _Segments, counting: frozenset[int | None], candidates: Sequence[tuple[int, int]]
    ) -> Iterator[Rank]:
        """Yield ranks whose counts are made in the same intervals."""
        counts = {count for count, _ in candidates}
        terms = one_thread(self._kernel)
        found = {
            Counting(self._kernel, segments.every[start], self._accesses, terms).counted(counts)
            for start in counting
        }
        first, barrier = _only(found), _only({end for start in counting for end in segments.ends[start]})
        if first is None or barrier is None or segments.entering(barrier) != counting:
            return
        if not self._meetings.parted_at(barrier) and self._are_in_same_loops(barrier, min(counts)):
            yield from self._summed(segments, first, candidates, barrier)

    def _summed(
        self, segments: _Segments, counting: Counted, candidates: Sequence[tuple[int, int]], start: int
    ) -> Iterator[Rank]:
        """Yield the ranks whose places are loaded behind a barrier from which on fields have sums."""
        run = SegmentRun(self._steps, self._block, start, self._kernel.effort)
        zeroed = self._zeroed(run, counting)
        bits = 8 * counting.size
        total = counting.each * run.threads
        if zeroed is None or 2 * total >= 1 << bits:
            return
        before = start
        for barrier in run.barriers():
            if segments.entering(barrier) != {before} or segments.ends[before] != {barrier}:
                return
            before = barrier
            loads = [pair for pair in candidates if pair[1] in segments.points[barrier]]
            if not loads:
                continue
            if _are_sums(run, zeroed, bits):
                for count, place in loads:
                    if segments.of(place) == {barrier} and self._is_first(segments.every[barrier], place):
                        yield Rank(self._loaded(count), self._loaded(place), total)
            return

    def _is_first(self, interval: Interval, place: int) -> bool:
        """Tell whether all threads load here, before they store anything in the interval."""
        return Counting(self._kernel, interval, self._accesses).loads_first(place)

    def _loaded(self, point: int) -> Name:
        (register,) = self._kernel.cfg.instructions[point].writes()
        return Name(register, point)

    def _zeroed(self, run: SegmentRun, counting: Counted) -> list[int] | None:
        """Return the words that are set to 0."""
        found: set[int] = set()
        for point in counting.zeros:
            step = self._steps.all[point]
            places = run.places(step)
            if places is None:
                return None
            size = step.size * len(step.elements)
            if size % 4:
                return None
            for place in places.tolist():
                found.update(range(place // 4, (place + size) // 4))
        return sorted(found)


def _are_sums(run: SegmentRun, words: Sequence[int], bits: int) -> bool:
    """Tell whether each field of some words has the sum of the fields before it in some order."""
    rows: list[list[int]] = []
    fielded = Words(words, bits)
    for index in words:
        form = run.memory.of_word(index)
        form = NOTHING if form == 0 else form
        found = None if form is None or isinstance(form, int) else fielded.fields_of(form)
        if found is None:
            return False
        rows.append(found)
    fields = range(32 // bits)
    return are_exclusive_sums([rows[place][field] for field in fields for place in range(len(words))])


def _points(interval: Interval) -> Iterator[int]:
    for visit in interval.visits:
        yield from interval.points(visit)


def _only(found: set[_T]) -> _T | None:
    return next(iter(found)) if len(found) == 1 else None
