"""Slot safety: conflicting accesses of the same bytes of shared memory are ordered, through the right proxies.

Each access is a *touch*: which bytes, read or written, by whom, through which proxy, and the component of the clock
that tells when it is over. Two touches of the same bytes conflict when one of them writes and they are not both
atomic. The later one must know of the earlier one:

- read or write after a write: the write is visible; a generic write before a read through the async proxy needs a
  proxy fence by the strand that wrote, before what publishes it; a write through the async proxy is visible with its
  completion;
- write after a read: the read is over.

What the PTX ISA asks for besides, and released kernels do without, is *strict*: a proxy fence between generic
accesses and a later write through the async proxy; one between `cp.async` and a matrix instruction; one by the writer
before the barrier, where all warps write, meet, fence and then multiply; order between lanes of one warp that runs in
step, also where they copy by one `cp.async`, and between threads that store the same value by the same instruction; the
wait of each warp for its own part of a `wgmma`; and visibility of the address that `tcgen05.alloc` wrote, where the
order of execution gives it. That a relaxed or narrower arrival publishes a read is enough even for strict problems.

Touches with certain bytes give problems, and each is a race in the schedule at hand, so it is demonstrated. Bytes
that a touch may reach beyond them, up to the end of its slot, give doubts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.actions import (
    OPEN_END,
    Access,
    Fence,
    Init,
    Inval,
    Protocol,
    Proxy,
    Span,
    Transfer,
)
from ..model.bulk_copy import LEAST_BYTES
from ..model.outcome import Doubt, Flaw, SharedByte
from ..model.record import Record
from .clock import Component, Row
from .conflicts import (
    Column,
    Filter,
    Numbers,
    Pairs,
    Place,
    Report,
    Spans,
    Told,
    Touch,
    Truths,
    columns_of,
    compare,
    is_executed_before,
)
from .copy_extents import within_slots
from .proxy_fence_scope import UNFENCED, unfenced_far_writes

_NO_LIMIT = 1 << 24
_BUDGET = 2_000_000
_MOST_DOUBTFUL = 10_000
"""Pairs that may meet and are in doubt which are told apart."""
_OPEN = (
    "an index into dynamic shared memory that is not known counts up from the start of its array, and ends in front of "
    "the next copy or mbarrier"
)
_FILLED = "each tile that is multiplied is filled by the copies that start in it"
_STORED_FOR = ": the copy reads what is stored from its first byte on, and nothing else does"
THREAD_COPIES = "cp.async"
MATRIX_PIPELINES = frozenset({"wgmma", "tcgen05"})


@dataclass(frozen=True, slots=True)
class Race:
    """What is wrong between two touches."""

    flaw: Flaw
    detail: str
    strict: bool = False


class Memory:
    """Touches of all shared memory in one schedule, in its order."""

    def __init__(
        self, protocol: Protocol, record: Record, shared_work: Mapping[Component, Component] | None = None
    ) -> None:
        """`shared_work`: for components of work that a warpgroup does together, those that waits of any warp raise."""
        self._shared_work = shared_work or {}
        self._protocol = protocol
        self._record = record
        self._touches: list[Touch] = []
        self._doubts: dict[str, Doubt] = {}
        self._budget = _BUDGET
        self._doubtful = 0
        """Pairs in doubt that were looked at."""
        self._ahead: dict[tuple[int, int], Touch] = {}
        """Accesses of lanes that come before what other lanes of the warp have done by then where they run in step."""
        self._ctas = np.array([strand.cta for strand in protocol.strands], dtype=np.int64)

    def add(self, touch: Touch) -> None:
        self._touches.append(touch)

    def check(
        self, sizes: Mapping[tuple[int, int], int], most: Callable[[], Mapping[tuple[int, int], int]] = dict
    ) -> tuple[tuple[Doubt, ...], tuple[str, ...]]:
        """Check all touches; return what remains in doubt, and on which facts the rest depends.

        `sizes` gives bytes that transfers (by strand and number of action) are known to move by equations, `most` bytes
        that they move at most; it is asked when it matters.
        """
        touches = [_sized(touch, sizes) for touch in self._touches] if sizes else self._touches
        unknown = {id(touch.spans) for touch in touches if any(span.start < 0 for span in touch.spans)}
        for touch in touches:
            if id(touch.spans) in unknown:
                self._doubt("where an access of shared memory lies is not known", touch.point)
        placed = [touch for touch in touches if id(touch.spans) not in unknown]
        columns = columns_of(placed)
        certain = np.array([touch.certain for touch in placed], dtype=np.bool_)
        self._compare(
            [touch for touch in placed if touch.certain], columns[:, certain], self._report, self.races
        )
        self._check_ahead([touch for touch in placed if touch.certain])
        for point in unfenced_far_writes(self._protocol, placed):
            self._doubt(UNFENCED, point)
        if all(touch.is_exact for touch in placed):
            return tuple(self._doubts.values()), self._provisos(placed)
        known = dict(self._doubts)
        starts = _slot_starts(self._protocol, placed)
        slots = within_slots(self._protocol, starts, MATRIX_PIPELINES)
        self._compare_possible(placed, columns, starts, slots)
        provisos = self._provisos(placed)
        limits = most() if len(self._doubts) > len(known) else {}
        if limits:
            self._doubts = known
            both = {place: min(limits.get(place, size), size) for place, size in slots.items()}
            self._compare_possible(placed, columns, starts, {**limits, **both})
            provisos += (_FILLED,)
        return tuple(self._doubts.values()), provisos

    def _compare_possible(
        self,
        touches: Sequence[Touch],
        columns: Numbers,
        starts: Mapping[int, Sequence[int]],
        most: Mapping[tuple[int, int], int],
    ) -> None:
        """Compare touches on all bytes that they may reach."""
        self._doubtful = 0
        places = self._extended(touches, starts, most)
        loose = {spans for touch, spans in zip(touches, places, strict=True) if not touch.is_exact}
        self._compare(
            touches, columns, self._report_possible, self._possible_races, places, loose.__contains__
        )

    def _extended(
        self,
        touches: Sequence[Touch],
        starts: Mapping[int, Sequence[int]],
        most: Mapping[tuple[int, int], int],
    ) -> list[Spans]:
        """Return all bytes that each touch may reach."""
        arrays = _arrays(touches, starts)
        known: dict[tuple[Spans, int], Spans] = {}
        found = []
        for touch in touches:
            if touch.is_exact:
                found.append(touch.spans)
                continue
            limit = most.get((touch.strand, touch.index), _NO_LIMIT) if touch.writes else _NO_LIMIT
            key = touch.spans, limit
            if key not in known:
                known[key] = tuple(
                    arrays[span] if span in arrays else _extended(span, starts, limit) for span in touch.spans
                )
            found.append(known[key])
        return found

    def _provisos(self, touches: Sequence[Touch]) -> tuple[str, ...]:
        """Return the facts that a proof rests on."""
        found = []
        if any(not span.exact and not span.reach for touch in touches for span in touch.spans):
            found.append("each copy and each matrix operand stays inside the slot that it starts in")
        ordinary = [span for touch in touches if not touch.is_asynchronous for span in touch.spans]
        if any(span.reach and not span.is_open for span in ordinary):
            found.append("an index into shared memory that is not known stays inside its variable")
        if any(span.is_open for span in ordinary):
            found.append(_OPEN)
        return tuple(found)

    # -- comparison

    def _compare(
        self,
        touches: Sequence[Touch],
        columns: Numbers,
        report: Report,
        matters: Filter,
        places: Sequence[Spans] | None = None,
        concerns: Callable[[Spans], bool] = lambda _: True,
    ) -> None:
        """Compare touches on all bytes that some group of spans covers that is of concern."""
        self._budget, left = compare(
            touches,
            report,
            self._budget,
            columns=columns,
            places=places,
            concerns=concerns,
            matters=matters,
        )
        if left is not None:
            self._doubt("more accesses of shared memory than the budget allows", left.point)

    def races(self, pairs: Pairs) -> Truths:
        """Tell which pairs are races: those for which `race` says what is wrong."""
        over = pairs.of_earlier(Column.OVER)
        executed, visible, fenced, crossed, wide = (
            pairs.known(Row.EXECUTED, Row.VISIBLE, Row.FENCED, Row.CROSSED, Row.WIDE) >= over
        )
        first, then = pairs.of_earlier(Column.STRAND), pairs.of_later(Column.STRAND)
        apart = self._ctas[first] != self._ctas[then]
        was_asynchronous = pairs.of_earlier(Column.COMPONENT) != first
        is_asynchronous = pairs.of_later(Column.COMPONENT) != then
        crosses = pairs.of_earlier(Column.PROXY) < pairs.of_later(Column.PROXY)
        unfenced = ~fenced & ~(crossed & was_asynchronous)
        after_write = ~visible | (crosses & unfenced) | (~was_asynchronous & ~is_asynchronous & apart & ~wide)
        after_read = ~executed | (crosses & ~was_asynchronous & ~fenced & ~crossed)
        found: Truths = np.where(pairs.of_earlier(Column.WRITES) != 0, after_write, after_read)
        return found

    def _possible_races(self, pairs: Pairs) -> Truths:
        """Tell which pairs are races of which one may touch other bytes than are certain."""
        found: Truths = pairs.of_earlier(Column.EXACT) & pairs.of_later(Column.EXACT) == 0
        found[found] = self.races(pairs.among(found))
        return found

    def _report(self, earlier: Touch, later: Touch, place: Place) -> Told:
        race = self._told(earlier, later)
        if race is None:
            return Told.FINE
        cta, offset = place
        strict = self._is_strict(race, earlier, later)
        if strict and self._is_ahead(earlier, later):
            self._ahead.setdefault((earlier.strand, earlier.index), earlier)
        self._record.add(
            race.flaw,
            later.strand,
            later.point,
            SharedByte(cta, offset),
            -1,
            f"{race.detail} (shared memory {offset:#x} of CTA {cta}){self._told_by_stores(earlier, later, offset)}",
            happened=True,
            related=((earlier.strand, earlier.point),),
            strict=strict,
        )
        return self._let_pass(earlier, later) if strict else Told.WRONG

    def _told_by_stores(self, earlier: Touch, later: Touch, offset: int) -> str:
        """Return what is to be said where one of two touches is known to reach some bytes by what is stored there."""
        for touch in (earlier, later):
            action = self._protocol.strands[touch.strand].actions[touch.index]
            is_told = isinstance(action, Transfer) and action.told_by_stores and not touch.writes
            if is_told and offset >= touch.spans[0].start + LEAST_BYTES:
                return _STORED_FOR
        return ""

    def _let_pass(self, earlier: Touch, later: Touch) -> Told:
        """Return what a pair is taken for of which what is wrong is let pass."""
        if is_executed_before(earlier, later):
            return Told.FINE
        in_step = self._is_warp_synchronous(earlier, later) or self._is_one_copy(earlier, later)
        return Told.IN_STEP if in_step else Told.PASSED

    def _check_ahead(self, touches: Sequence[Touch]) -> None:
        """Check accesses that a lane makes too early for lanes that run in step, as it runs ahead of its warp.

        They are behind asynchronous work that the others have started by then, and must know that to be over.
        """
        for access in self._ahead.values():
            for work in touches:
                if not work.is_asynchronous or not self._is_ahead(access, work):
                    continue
                if not (work.writes or access.writes) or (work.combines and access.combines):
                    continue
                for one in work.spans:
                    if any(_meet(one, other) for other in access.spans):
                        self._report(work, access, (one.cta, one.start))
                        break

    def _is_ahead(self, access: Touch, other: Touch) -> bool:
        """Tell whether another lane of the warp comes to something before an access, where lanes run in step."""
        own, its = (self._protocol.strands[touch.strand] for touch in (access, other))
        is_of_warp = (own.cta, own.warp) == (its.cta, its.warp) and access.strand != other.strand
        return is_of_warp and bool(own.events) and own.events[access.index] > its.events[other.index]

    def _report_possible(self, earlier: Touch, later: Touch, _: Place) -> Told:
        if self._doubtful > _MOST_DOUBTFUL:  # each doubt bars a proof: more pairs only say so in other words
            return Told.FINE
        race = self._told(earlier, later)
        if race is None:
            return Told.FINE
        if self._is_strict(race, earlier, later):
            return self._let_pass(earlier, later)
        self._doubtful += 1
        self._doubt(f"whether two accesses meet is not known; if they do: {race.detail}", later.point)
        return Told.WRONG

    def race(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong between two conflicting touches, or None."""
        found = _judge(earlier, later) or self._judge_scope(earlier, later)
        if found is not None and found.flaw is Flaw.OVERWRITE and self._is_waited_for(earlier, later):
            text = "this write follows the wait of one warp for its wgmma, while another one reads the same bytes"
            return Race(Flaw.AWAITED_BY_ANOTHER_WARP, text, strict=True)
        return found

    def _told(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong between two conflicting touches, by what they are the work of."""
        found = self.race(earlier, later)
        if found is not None and self._was_object(earlier) and is_executed_before(earlier, later):
            return None
        if found is not None and self._is_stored_in_front(found.flaw, earlier, later):
            text = "no barrier lies between a store by one warp of a warpgroup and a wgmma of another, which reads it"
            return Race(Flaw.STORED_BY_ANOTHER_WARP, text, strict=True)
        if found is not None and self._is_fenced_behind(found, earlier, later):
            text = "a warp fences its store behind the barrier in front of a wgmma of another warp, which reads it"
            return Race(Flaw.FENCED_BEHIND_BARRIER, text, strict=True)
        if (
            found is None
            or found.flaw is not Flaw.MISSING_PROXY_FENCE
            or not self._is_multiplied(earlier, later)
        ):
            return found
        text = "no proxy fence lies between cp.async and this read of what it brought by a matrix instruction"
        return Race(Flaw.UNFENCED_COPY, text, strict=True)

    def _is_multiplied(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether a matrix instruction reads what `cp.async` brought."""
        copy, work = (self._protocol.strands[touch.strand].actions[touch.index] for touch in (earlier, later))
        return (
            isinstance(copy, Transfer) and copy.pipeline == THREAD_COPIES
            and isinstance(work, Transfer) and work.pipeline in MATRIX_PIPELINES
        )  # fmt: skip

    def _was_object(self, touch: Touch) -> bool:
        """Tell whether bytes were an mbarrier that was initialised or invalidated: nobody reads what that wrote."""
        return isinstance(self._protocol.strands[touch.strand].actions[touch.index], Init | Inval)

    def _is_waited_for(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether another warp of the warpgroup that reads has waited for its own part of the same work."""
        work = self._shared_work.get(earlier.component)
        return work is not None and bool(later.clock[Row.EXECUTED, work] >= earlier.over)

    def _judge_scope(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong with ordinary accesses of two CTAs that releases of CTA scope order."""
        both = not earlier.is_asynchronous and not later.is_asynchronous and earlier.writes
        strands = self._protocol.strands
        if not both or strands[earlier.strand].cta == strands[later.strand].cta:
            return None
        if later.clock[Row.WIDE, earlier.component] >= earlier.over:
            return None
        kind = "write" if later.writes else "read"
        flaw = Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY
        text = f"an earlier write of the same bytes is published to its own CTA only, and this {kind} is in another"
        return Race(flaw, text)

    def _doubt(self, text: str, point: int) -> None:
        self._doubts.setdefault(text, Doubt(text, point))

    def _is_strict(self, race: Race, earlier: Touch, later: Touch) -> bool:
        return (
            race.strict
            or self._is_warp_synchronous(earlier, later)
            or self._is_one_copy(earlier, later)
            or (race.flaw is Flaw.READ_TOO_EARLY and self._is_over(earlier, later))
        )

    def _is_over(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether a write that its instruction ends with comes first in every schedule, if not visibly so."""
        action = self._protocol.strands[earlier.strand].actions[earlier.index]
        return isinstance(action, Access) and action.blocks and is_executed_before(earlier, later)

    def _is_fenced_in_step(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether the writer comes to the same `wgmma` itself, with a proxy fence on its way there."""
        action = self._protocol.strands[later.strand].actions[later.index]
        if not isinstance(action, Transfer) or action.pipeline != "wgmma" or earlier.is_asynchronous:
            return False
        fenced = False
        for own in self._protocol.strands[earlier.strand].actions[earlier.index + 1 :]:
            if isinstance(own, Fence) and own.proxy:
                fenced = True
            elif own.point == action.point:
                return fenced
        return False

    def _is_fenced_behind(self, race: Race, earlier: Touch, later: Touch) -> bool:
        """Tell whether a store that a barrier puts in front of a `wgmma` only lacks a fence before that barrier.

        Its warp has the fence on its own way to the same `wgmma`.
        """
        is_missing = race.flaw is Flaw.MISSING_PROXY_FENCE and not race.strict
        return is_missing and self._is_fenced_in_step(earlier, later)

    def _is_stored_in_front(self, flaw: Flaw, earlier: Touch, later: Touch) -> bool:
        """Tell whether a warp stores, and fences, what a `wgmma` of its warpgroup reads before it comes to that itself.

        In the schedule at hand either may come first.
        """
        if flaw not in (Flaw.READ_TOO_EARLY, Flaw.OVERWRITE):
            return False
        write, read = (earlier, later) if flaw is Flaw.READ_TOO_EARLY else (later, earlier)
        is_of_team = write.strand in self._protocol.team(read.strand)
        if not is_of_team or not self._is_fenced_in_step(write, read):
            return False
        reader, writer = (self._protocol.strands[each.strand].actions for each in (read, write))
        point = reader[read.index].point
        before = sum(each.point == point for each in writer[: write.index])
        return before <= sum(each.point == point for each in reader[: read.index])

    def _is_one_copy(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether lanes of one warp start both writes together, by one copy of each thread for itself."""
        if (
            not earlier.is_asynchronous
            or earlier.proxy is Proxy.ASYNC
            or not (earlier.writes and later.writes)
        ):
            return False
        own, other = self._protocol.strands[earlier.strand], self._protocol.strands[later.strand]
        is_of_one_warp = (own.cta, own.warp) == (other.cta, other.warp)
        return is_of_one_warp and bool(own.events) and own.events[earlier.index] == other.events[later.index]

    def _is_warp_synchronous(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether only the independence of the lanes of a warp is against a pair of accesses.

        Both are ordinary accesses of one warp, or the earlier one is a read that its warp passed in the trace
        before another lane of it did what the later access knows of.
        """
        if earlier.is_asynchronous:
            return False
        strands = self._protocol.strands
        own, other = strands[earlier.strand], strands[later.strand]
        if not later.is_asynchronous and (own.cta, own.warp) == (other.cta, other.warp):
            return True
        if earlier.writes or not own.events:
            return False
        event = own.events[earlier.index]
        return any(
            strand.cta == own.cta and strand.warp == own.warp and strand.events
            and (known := int(later.clock[Row.EXECUTED, index])) and strand.events[known - 1] > event
            for index, strand in enumerate(strands)
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes that an action touches in one way."""

    spans: Spans
    writes: bool
    is_exact: bool
    ctas: tuple[int, ...]
    """CTAs whose bytes these are."""


def parts_of(action: Access | Transfer) -> tuple[Part, ...]:
    """Return the bytes that an action touches: reads first, as it writes what it has read."""
    is_certain = not isinstance(action, Access) or action.certain
    found = []
    for spans, writes in ((action.reads, False), (action.writes, True)):
        exact = tuple(span for span in spans if span.exact)
        bounded = tuple(span for span in spans if not span.exact and span.reach)
        for group in (exact, bounded, *((span,) for span in spans if not span.exact and not span.reach)):
            if group:
                ctas = tuple(sorted({span.cta for span in group}))
                found.append(Part(group, writes, is_certain and group is exact, ctas))
    return tuple(found)


def _meet(one: Span, other: Span) -> bool:
    """Tell whether some bytes are certainly in both."""
    return one.cta == other.cta and max(one.start, other.start) < min(one.end, other.end)


def _judge(earlier: Touch, later: Touch) -> Race | None:
    """Return what is wrong between two conflicting touches, or None."""
    clock, place = later.clock, earlier.component
    if not earlier.writes:
        return _judge_overwrite(earlier, later)
    if clock[Row.VISIBLE, place] < earlier.over:
        return _judge_hidden(earlier, later)
    if (
        earlier.proxy is Proxy.ASYNC
        or later.proxy is Proxy.GENERIC
        or clock[Row.FENCED, place] >= earlier.over
    ):
        return None
    if clock[Row.CROSSED, place] < earlier.over:
        text = "no proxy fence lies between a generic write and"
    elif earlier.is_asynchronous:
        return None
    else:
        text = "the proxy fence is not on the side of the thread that wrote these bytes, before"
    kind = "write" if later.writes else "read"
    detail = f"{text} this {kind} of the same bytes through the async proxy"
    return Race(Flaw.MISSING_PROXY_FENCE, detail, strict=later.writes)


def _judge_overwrite(earlier: Touch, later: Touch) -> Race | None:
    clock, place = later.clock, earlier.component
    if clock[Row.EXECUTED, place] < earlier.over:
        what = "asynchronous read" if earlier.is_asynchronous else "read"
        return Race(Flaw.OVERWRITE, f"nothing orders this write after an earlier {what} of the same bytes")
    crosses = earlier.proxy is Proxy.GENERIC and later.proxy is Proxy.ASYNC and not earlier.is_asynchronous
    if not crosses or max(clock[Row.FENCED, place], clock[Row.CROSSED, place]) >= earlier.over:
        return None
    text = "no proxy fence lies between an ordinary read and this write of the same bytes through the async proxy"
    return Race(Flaw.MISSING_PROXY_FENCE, text, strict=not later.after_fenced_reads)


def _judge_hidden(earlier: Touch, later: Touch) -> Race:
    kind = "write" if later.writes else "read"
    flaw = Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY
    what = "asynchronous write" if earlier.is_asynchronous else "write"
    same = later.writes and earlier.point == later.point
    alike = same and not earlier.is_asynchronous and not later.is_asynchronous
    if later.clock[Row.EXECUTED, earlier.component] >= earlier.over:
        text = f"an earlier {what} of the same bytes is not made visible to this {kind}"
    else:
        text = f"nothing orders this {kind} after an earlier {what} of the same bytes"
    return Race(flaw, text, strict=alike)


def _sized(touch: Touch, sizes: Mapping[tuple[int, int], int]) -> Touch:
    size = sizes.get((touch.strand, touch.index))
    (span, *others) = touch.spans
    if size is None or others or span.exact or span.start < 0:
        return touch
    return replace(touch, spans=(Span(span.cta, span.start, size),), is_exact=touch.certain)


def _slot_starts(protocol: Protocol, touches: Sequence[Touch]) -> Mapping[int, Sequence[int]]:
    """Return where slots start in each CTA: where copies start to write or read, and at mbarriers."""
    starts: dict[int, set[int]] = {}
    for touch in touches:
        action = protocol.strands[touch.strand].actions[touch.index]
        if isinstance(action, Transfer) and action.pipeline not in MATRIX_PIPELINES:
            for span in touch.spans:
                starts.setdefault(span.cta, set()).add(span.start)
    for strand in protocol.strands:
        for each in strand.actions:
            if isinstance(each, Init):
                starts.setdefault(each.barrier.cta, set()).add(each.barrier.offset)
    return {cta: sorted(found) for cta, found in starts.items()}


def _arrays(touches: Sequence[Touch], starts: Mapping[int, Sequence[int]]) -> Mapping[Span, Span]:
    """Return the bytes of arrays that are accessed at unknown places; between two slots they are one array."""
    opened = {span for touch in touches for span in touch.spans if span.is_open}
    found: dict[Span, Span] = {}
    first: dict[tuple[int, int], int] = {}
    for span in sorted(opened):
        known = starts.get(span.cta, ())
        place = bisect_right(known, span.start)
        begin = first.setdefault((span.cta, place), span.start)
        end = known[place] if place < len(known) else OPEN_END
        found[span] = Span(span.cta, begin, end - begin, exact=False)
    return found


def _extended(span: Span, starts: Mapping[int, Sequence[int]], most: int = _NO_LIMIT) -> Span:
    if span.exact:
        return span
    if span.reach:
        return Span(span.cta, span.start, span.reach, exact=False)
    known = starts.get(span.cta, ())
    place = bisect_left(known, span.start + max(span.size, 1))
    end = known[place] if place < len(known) else _NO_LIMIT
    return Span(span.cta, span.start, min(end - span.start, max(most, span.size)), exact=False)


__all__ = ["MATRIX_PIPELINES", "Memory", "Part", "Place", "Spans", "Touch", "compare", "parts_of"]
