"""Pairs of accesses of the same bytes of which one writes, without a look at every pair.

Property: where `compare` reports no pair as wrong, none is: of any two accesses of the same bytes, one of them a write,
the earlier one in time comes first in every schedule, or that it may not is let pass.

Argument: bytes that the same accesses cover are one *cell*. In a cell each access meets the last writes before it, and
a write the reads since then, one of each source; what came before these is ordered by them. For all cells together
these pairs are found by sorting, and a filter over whole columns of pairs leaves those that are worth a look. Where a
pair is not ordered and passes for it, the earlier access meets what comes behind the later one as well; and the later
one of two writes meets what is in front of the earlier one.

Not covered: what is left when the budget runs out, which is returned.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from random import Random
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..model.actions import Proxy, Span
from .clock import Clock, Component, Row

Spans: TypeAlias = tuple[Span, ...]
Place: TypeAlias = tuple[int, int]
"""CTA and offset of the first byte of a cell."""
Numbers: TypeAlias = npt.NDArray[np.int64]
Truths: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One access of one kind: done when `component` reaches `over`; `clock` is what was known before it."""

    strand: int
    index: int
    point: int
    spans: Spans
    writes: bool
    proxy: Proxy
    combines: bool
    component: Component
    over: int
    clock: Clock
    certain: bool = True
    after_fenced_reads: bool = False
    is_exact: bool = True
    """It is certain, and touches these bytes and no others."""

    @property
    def is_asynchronous(self) -> bool:
        return self.component != self.strand


class Column(IntEnum):
    """What is known of each touch, in columns."""

    STRAND = 0
    INDEX = 1
    WRITES = 2
    COMBINES = 3
    COMPONENT = 4
    OVER = 5
    PROXY = 6
    """1: the async proxy."""
    EXACT = 7


def is_executed_before(earlier: Touch, later: Touch) -> bool:
    """Tell whether the later one of two touches comes after the earlier one in every schedule."""
    return bool(later.clock[Row.EXECUTED, earlier.component] >= earlier.over)


def columns_of(touches: Sequence[Touch]) -> Numbers:
    """Return what is known of touches: a row for each `Column`, a column for each touch."""
    rows = [
        (t.strand, t.index, t.writes, t.combines, t.component, t.over, t.proxy is Proxy.ASYNC, t.is_exact)
        for t in touches
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, len(Column)).T


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of touches by their numbers in time: each earlier one with a later one, sorted by the later one."""

    touches: Sequence[Touch]
    columns: Numbers
    earlier: Numbers
    later: Numbers

    def known(self, *rows: int) -> npt.NDArray[np.int32]:
        """Return, for each row of the clock, what the later touch knows of the component of the earlier one."""
        components = self.of_earlier(Column.COMPONENT)
        found = np.empty((len(rows), len(self.later)), dtype=np.int32)
        chosen = np.array(rows, dtype=np.int64)[:, None]
        starts = np.flatnonzero(np.diff(self.later, prepend=-1, append=-1))
        for start, end in pairwise(starts.tolist()):
            clock = self.touches[self.later[start]].clock
            found[:, start:end] = clock[chosen, components[start:end]]
        return found

    def of_earlier(self, column: Column) -> Numbers:
        """Return what is known of each earlier touch."""
        found: Numbers = self.columns[column, self.earlier]
        return found

    def of_later(self, column: Column) -> Numbers:
        """Return what is known of each later touch."""
        found: Numbers = self.columns[column, self.later]
        return found

    def among(self, chosen: Truths) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.touches, self.columns, self.earlier[chosen], self.later[chosen])


class Told(IntEnum):
    """What was said of a pair of touches."""

    FINE = 0
    """Whatever is said of it, the earlier one comes first in every schedule."""
    IN_STEP = 1
    """The earlier one comes first where lanes of a warp run in step."""
    PASSED = 2
    """Either may come first, and this is let pass."""
    WRONG = 3


Passed: TypeAlias = tuple[int, int, int, Told]
"""Numbers of an earlier touch, of a later one, and of their cell, and why they pass."""
Report: TypeAlias = Callable[[Touch, Touch, Place], Told]
Filter: TypeAlias = Callable[[Pairs], Truths]
"""Tells which pairs are worth a look."""


def compare(
    touches: Sequence[Touch],
    report: Report,
    budget: int,
    *,
    columns: Numbers | None = None,
    places: Sequence[Spans] | None = None,
    concerns: Callable[[Spans], bool] = lambda _: True,
    matters: Filter | None = None,
) -> tuple[int, Touch | None]:
    """Report pairs of touches of the same bytes of which one writes, the earlier one first.

    `columns` are those of the touches, `places` the bytes of each touch, where they are not its own. Only cells of
    bytes are looked at that are of concern, and only pairs that matter are reported. Returns what is left of the
    budget, which each touch of a cell takes one of, and the touch at which it ran out.
    """
    spans = [touch.spans for touch in touches] if places is None else places
    numbers, groups = _numbered(spans)
    cells = _Cells(groups, concerns)
    counts = np.array([len(each) for each in cells.of_group], dtype=np.int64)[numbers]
    ends = np.cumsum(counts)
    most = int(np.searchsorted(ends, budget, side="right"))
    left = budget - int(ends[most - 1]) if most else budget
    times = np.repeat(np.arange(most), counts[:most])
    held = [cells.of_group[number] for number in numbers[:most].tolist()]
    where = np.concatenate(held) if held else np.zeros(0, dtype=np.int64)
    known = columns_of(touches) if columns is None else columns
    passed: list[Passed] = []
    pairs, unseen = _worth_a_look(touches, known, times, where, matters, budget)
    for earlier, later, cell in pairs:
        told = report(touches[earlier], touches[later], cells.places[cell])
        if told in (Told.IN_STEP, Told.PASSED) and touches[later].writes:
            passed.append((earlier, later, cell, told))
    if unseen is not None:
        return -1, touches[unseen]
    if passed:
        members = _members(times, where, passed)
        left, stopped, more = _compare_in_front(touches, members, passed, report, cells.places, left)
        if stopped is None:
            passed += more
            left, stopped = _compare_behind(touches, members, passed, report, cells.places, left)
        if stopped is not None:
            return -1, touches[stopped]
    return (left, None) if most == len(touches) else (-1, touches[most])


def _members(times: Numbers, where: Numbers, passed: Sequence[Passed]) -> dict[int, list[int]]:
    """Return the touches of the cells of some pairs, in the order of time."""
    wanted = np.array(sorted({pair[2] for pair in passed}), dtype=np.int64)
    chosen = np.isin(where, wanted)
    found: dict[int, list[int]] = {int(cell): [] for cell in wanted}
    for time, cell in zip(times[chosen].tolist(), where[chosen].tolist(), strict=True):
        found[cell].append(time)
    return found


def _compare_in_front(
    touches: Sequence[Touch],
    members: dict[int, list[int]],
    passed: Sequence[Passed],
    report: Report,
    places: Sequence[Place],
    budget: int,
) -> tuple[int, int | None, list[Passed]]:
    """Report what is wrong between the later ones of two writes that were let pass and what is in front of both.

    The earlier write speaks for what comes before it to those alone that come after it. Returns what is left of the
    budget, the touch at which it ran out, and the pairs that are let pass as well.
    """
    more: list[Passed] = []
    told = {(earlier, later): why for earlier, later, _, why in passed}
    writes = {
        (later, cell)
        for earlier, later, cell, why in passed
        if touches[earlier].writes and why is Told.PASSED
    }
    for later, cell in sorted(writes):
        held = members[cell]
        for time in reversed(held[: bisect_left(held, later)]):
            budget -= 1
            if budget < 0:
                return budget, later, more
            one, other = touches[time], touches[later]
            if not _conflict(one, other):
                continue
            if (time, later) not in told:
                told[time, later] = why = report(one, other, places[cell])
                if why in (Told.IN_STEP, Told.PASSED):
                    more.append((time, later, cell, why))
            if told[time, later] is Told.FINE and one.writes:
                break
    return budget, None, more


def _compare_behind(
    touches: Sequence[Touch],
    members: dict[int, list[int]],
    passed: Sequence[Passed],
    report: Report,
    places: Sequence[Place],
    budget: int,
) -> tuple[int, int | None]:
    """Report what is wrong between the earlier touches of pairs that were let pass and what is behind the later ones.

    What comes behind a write that is ordered after the earlier touch is so, too; where lanes run in step, a write
    that is ordered after the later one. Returns what is left of the budget, and the touch at which it ran out.
    """
    told: dict[tuple[int, int], Told] = {}
    for earlier, later, cell, why in passed:
        one, between = touches[earlier], touches[later]
        held = members[cell]
        for time in held[bisect_right(held, later) :]:
            budget -= 1
            if budget < 0:
                return budget, time
            other = touches[time]
            if not _conflict(one, other):
                continue
            if why is Told.IN_STEP and is_executed_before(between, other):
                is_ordered = True
            else:
                if (earlier, time) not in told:
                    told[earlier, time] = report(one, other, places[cell])
                is_ordered = told[earlier, time] is Told.FINE
            if is_ordered and other.writes:
                break
    return budget, None


def _conflict(one: Touch, other: Touch) -> bool:
    """Tell whether two touches of the same bytes are of two actions, one of them writes, and not both are atomic."""
    is_one = (one.strand, one.index) == (other.strand, other.index)
    return not is_one and (one.writes or other.writes) and not (one.combines and other.combines)


def _numbered(spans: Sequence[Spans]) -> tuple[Numbers, list[Spans]]:
    """Return the number of the bytes of each touch, and all bytes by number; equal bytes have one number."""
    known: dict[Spans, int] = {}
    same: dict[int, int] = {}
    numbers = []
    for each in spans:
        number = same.get(id(each))
        if number is None:
            number = same[id(each)] = known.setdefault(each, len(known))
        numbers.append(number)
    return np.array(numbers, dtype=np.int64), list(known)


class _Cells:
    """Bytes that the same groups of spans cover, in the order of their first byte."""

    def __init__(self, groups: Sequence[Spans], concerns: Callable[[Spans], bool]) -> None:
        self.places: list[Place] = []
        starting: dict[Place, list[int]] = {}
        ending: dict[Place, list[int]] = {}
        for number, spans in enumerate(groups):
            for span in spans:
                if span.size > 0:
                    starting.setdefault((span.cta, span.start), []).append(number)
                    ending.setdefault((span.cta, span.end), []).append(number)
        wanted = [concerns(spans) for spans in groups]
        source = Random(len(groups))
        names = [source.getrandbits(128) for _ in groups]
        members: list[list[int]] = [[] for _ in groups]
        active: dict[int, int] = {}
        concerned = name = 0
        """Active groups of concern, and what stands for the set of all active ones: no two have one name."""
        seen: set[int] = set()
        for place in sorted({*starting, *ending}):
            for number in ending.get(place, ()):
                active[number] -= 1
                if not active[number]:
                    del active[number]
                    concerned -= wanted[number]
                    name ^= names[number]
            for number in starting.get(place, ()):
                before = active.get(number, 0)
                active[number] = before + 1
                if not before:
                    concerned += wanted[number]
                    name ^= names[number]
            if concerned and name not in seen:
                seen.add(name)
                for number in active:
                    members[number].append(len(self.places))
                self.places.append(place)
        self.of_group = [np.array(each, dtype=np.int64) for each in members]
        """For each group, its cells."""


def _worth_a_look(
    touches: Sequence[Touch],
    known: Numbers,
    times: Numbers,
    where: Numbers,
    matters: Filter | None,
    budget: int,
) -> tuple[list[tuple[int, int, int]], int | None]:
    """Return the earlier and the later touch of each pair that matters, with its cell, in the order of time.

    And the first touch of a cell in which writes combine that was left, as there are more pairs than the budget.
    """
    unseen: int | None = None
    if not len(times):
        return [], unseen
    order = np.argsort(where, kind="stable")
    times, where = times[order], where[order]
    combined = np.unique(where[(known[Column.WRITES] & known[Column.COMBINES])[times] != 0])
    simple = np.isin(where, combined, invert=True)
    columns = _pairs(known, times[simple], where[simple])
    if not simple.all():
        of_combined, unseen = _of_combined(touches, times[~simple], where[~simple], budget)
        columns = np.concatenate([columns, of_combined], axis=1)
    columns = columns[:, _may_meet(known, columns)]
    if matters is not None:
        columns = columns[:, _that_matter(touches, known, columns, matters)]
    later, cell, _, earlier = columns[:, np.lexsort(columns[2::-1])]
    return list(zip(earlier.tolist(), later.tolist(), cell.tolist(), strict=True)), unseen


def _pairs(known: Numbers, times: Numbers, where: Numbers) -> Numbers:
    """Return columns of later touch, cell, turn and earlier touch, for cells in which no write combines.

    Entries are sorted by cell and time. Pairs of one later touch in one cell take their turns.
    """
    count = len(times)
    numbers = np.arange(count)
    is_write = known[Column.WRITES, times] != 0
    starts = np.concatenate([[True], where[1:] != where[:-1]]) if count else np.zeros(0, dtype=np.bool_)
    first = np.maximum.accumulate(np.where(starts, numbers, 0))
    latest = np.maximum.accumulate(np.where(is_write, numbers, -1))
    before = np.concatenate([[-1], latest[:-1]])[:count]
    after_write = np.flatnonzero(before >= first)
    following = np.minimum.accumulate(np.where(is_write, numbers, count)[::-1])[::-1]
    reads = np.flatnonzero(~is_write & (following < count))
    reads = reads[where[reads] == where[following[reads]]]
    reads, turns = _last_of_each(known, times, reads, following[reads])
    writing = following[reads]
    return np.stack(
        [
            np.concatenate([times[after_write], times[writing]]),
            np.concatenate([where[after_write], where[writing]]),
            np.concatenate([np.full(len(after_write), -1), turns]),
            np.concatenate([times[before[after_write]], times[reads]]),
        ]
    )


def _last_of_each(
    known: Numbers, times: Numbers, reads: Numbers, writing: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the last read of each component and proxy before a write, with the number of the first one."""
    sources = (2 * known[Column.COMPONENT] + known[Column.PROXY])[times[reads]]
    order = np.lexsort((reads, sources, writing))
    reads, sources, writing = reads[order], sources[order], writing[order]
    changes = np.flatnonzero((sources[1:] != sources[:-1]) | (writing[1:] != writing[:-1])) + 1
    if not len(reads):
        return reads, reads
    firsts = np.concatenate([[0], changes])
    lasts = np.concatenate([changes - 1, [len(reads) - 1]])
    return reads[lasts], reads[firsts]


def _of_combined(
    touches: Sequence[Touch], times: Numbers, where: Numbers, budget: int
) -> tuple[Numbers, int | None]:
    """Return the same columns for cells in which writes combine: such writes gather until another one comes.

    And the touch at which there were more pairs than the budget, if there were.
    """
    rows: list[tuple[int, int, int, int]] = []
    unseen: int | None = None
    cell = -1
    writes: list[int] = []
    reads: dict[tuple[Component, Proxy], int] = {}
    for time, place in zip(times.tolist(), where.tolist(), strict=True):
        if place != cell:
            cell, writes, reads = place, [], {}
        touch = touches[time]
        against = [*writes, *reads.values()] if touch.writes else writes
        if len(rows) + len(against) > budget:
            unseen = time
            break
        rows += [(time, cell, turn, earlier) for turn, earlier in enumerate(against)]
        if not touch.writes:
            reads[touch.component, touch.proxy] = time
        elif touch.combines and writes and touches[writes[0]].combines:
            writes.append(time)
        else:
            writes, reads = [time], {}
    return np.array(rows, dtype=np.int64).reshape(-1, 4).T, unseen


def _may_meet(known: Numbers, columns: Numbers) -> Truths:
    """Tell which pairs are not of one action, nor both atomic."""
    later, earlier = known[:, columns[0]], known[:, columns[3]]
    own = (later[Column.STRAND] == earlier[Column.STRAND]) & (later[Column.INDEX] == earlier[Column.INDEX])
    found: Truths = ~own & (later[Column.COMBINES] & earlier[Column.COMBINES] == 0)
    return found


def _that_matter(touches: Sequence[Touch], known: Numbers, columns: Numbers, matters: Filter) -> Truths:
    """Tell which pairs matter; each is looked at once, in however many cells it is."""
    names, back = np.unique(columns[0] * len(touches) + columns[3], return_inverse=True)
    return matters(Pairs(touches, known, names % len(touches), names // len(touches)))[back]
