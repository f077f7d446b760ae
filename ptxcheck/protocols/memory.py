"""Slot safety: conflicting accesses of the same bytes of shared memory are ordered, through the right proxies.

Each access is a *touch*: which bytes, read or written, by whom, through which proxy, and the component of the clock
that tells when it is over. Two touches of the same bytes conflict when one of them writes and they are not both
atomic. The later one must know of the earlier one:

- read or write after a write: the write is visible; a generic write before an access through the async proxy needs
  a proxy fence by the strand that wrote, before what publishes it; a write through the async proxy is visible with
  its completion;
- write after a read: the read is over. That a relaxed or narrower arrival publishes it is enough here: released
  kernels hand slots back without a proxy fence, and with arrivals of CTA scope.

Touches with certain bytes give problems, and each is a race in the schedule at hand, so it is demonstrated. Bytes
that a touch may reach beyond them, up to the end of its slot, give doubts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .actions import Access, Protocol, Proxy, Span, Transfer
from .clock import Clock, Component, Row
from .outcome import Doubt, Flaw
from .record import Record

_NO_LIMIT = 1 << 24
_CELL_BUDGET = 400_000
MATRIX_PIPELINES = frozenset({"wgmma", "tcgen05"})


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One access of one kind: done when `component` reaches `over`; `clock` is what was known before it."""

    strand: int
    index: int
    point: int
    span: Span
    writes: bool
    proxy: Proxy
    combines: bool
    component: Component
    over: int
    clock: Clock
    certain: bool = True
    after_fenced_reads: bool = False

    @property
    def is_asynchronous(self) -> bool:
        return self.component != self.strand


@dataclass(slots=True)
class _Cell:
    writes: list[Touch] = field(default_factory=list)
    reads: dict[tuple[Component, Proxy], Touch] = field(default_factory=dict)


class Memory:
    """Touches of all shared memory in one schedule, in its order."""

    def __init__(self, protocol: Protocol, record: Record) -> None:
        self._protocol = protocol
        self._record = record
        self._touches: list[Touch] = []
        self._doubts: dict[str, Doubt] = {}
        self._budget = _CELL_BUDGET

    def add(self, touch: Touch) -> None:
        self._touches.append(touch)

    def check(self, sizes: Mapping[tuple[int, int], int]) -> tuple[tuple[Doubt, ...], tuple[str, ...]]:
        """Check all touches; return what remains in doubt, and on which facts the rest depends.

        `sizes` gives bytes that transfers (by strand and number of action) are known to move by equations.
        """
        touches = [_sized(touch, sizes) for touch in self._touches]
        for touch in touches:
            if touch.span.start < 0:
                self._doubt("where an access of shared memory lies is not known", touch.point)
        placed = [touch for touch in touches if touch.span.start >= 0]
        self._compare([t for t in placed if t.certain and t.span.size > 0], self._report)
        if all(t.certain and t.span.exact for t in placed):
            return tuple(self._doubts.values()), ()
        starts = _slot_starts(self._protocol, placed)
        self._compare([replace(t, span=_extended(t.span, starts)) for t in placed], self._report_possible)
        provisos = ("each copy and each matrix operand stays inside the slot that it starts in",)
        return tuple(self._doubts.values()), provisos if any(not t.span.exact for t in placed) else ()

    # -- comparison

    def _compare(self, touches: Sequence[Touch], report: Callable[[Touch, Touch], None]) -> None:
        edges: dict[int, set[int]] = {}
        for touch in touches:
            edges.setdefault(touch.span.cta, set()).update((touch.span.start, touch.span.end))
        ordered = {cta: sorted(found) for cta, found in edges.items()}
        cells: dict[tuple[int, int], _Cell] = {}
        for touch in touches:
            cuts = ordered[touch.span.cta]
            first = bisect_left(cuts, touch.span.start)
            last = bisect_left(cuts, touch.span.end)
            for place in range(first, last):
                self._budget -= 1
                if self._budget < 0:
                    self._doubt("more accesses of shared memory than the budget allows", touch.point)
                    return
                self._enter(cells.setdefault((touch.span.cta, place), _Cell()), touch, report)

    def _enter(self, cell: _Cell, touch: Touch, report: Callable[[Touch, Touch], None]) -> None:
        own = (touch.strand, touch.index)
        for earlier in cell.writes:
            if not (earlier.combines and touch.combines) and (earlier.strand, earlier.index) != own:
                report(earlier, touch)
        if not touch.writes:
            cell.reads[touch.component, touch.proxy] = touch
            return
        for earlier in cell.reads.values():
            if not (earlier.combines and touch.combines) and (earlier.strand, earlier.index) != own:
                report(earlier, touch)
        if touch.combines and cell.writes and cell.writes[0].combines:
            cell.writes.append(touch)
        else:
            cell.writes, cell.reads = [touch], {}

    def _report(self, earlier: Touch, later: Touch) -> None:
        found = _judge(earlier, later)
        if found is None:
            return
        flaw, detail = found
        first = ("shared", later.span.cta, max(earlier.span.start, later.span.start))
        self._record.add(
            flaw,
            later.strand,
            later.point,
            first,
            -1,
            f"{detail} ({_show(later.span)})",
            happened=True,
            related=((earlier.strand, earlier.point),),
            strict=self._is_warp_synchronous(earlier, later),
        )

    def _report_possible(self, earlier: Touch, later: Touch) -> None:
        if earlier.certain and later.certain and earlier.span.exact and later.span.exact:
            return
        found = _judge(earlier, later)
        if found is not None and not self._is_warp_synchronous(earlier, later):
            self._doubt(f"whether two accesses meet is not known; if they do: {found[1]}", later.point)

    def _doubt(self, text: str, point: int) -> None:
        self._doubts.setdefault(text, Doubt(text, point))

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


def touches_of(
    action: Access | Transfer,
    strand: int,
    index: int,
    clock: Clock,
    component: Component,
    read_component: Component,
    over: int,
) -> Iterable[Touch]:
    """Yield the touches of an action: reads first, as it writes what it has read."""
    if isinstance(action, Access):
        proxy, certain, fenced = Proxy.GENERIC, action.certain, False
    else:
        proxy, certain, fenced = action.proxy, True, action.after_fenced_reads
    for spans, writes, place in ((action.reads, False, read_component), (action.writes, True, component)):
        for span in spans:
            yield Touch(
                strand,
                index,
                action.point,
                span,
                writes,
                proxy,
                action.combines,
                place,
                over,
                clock,
                certain,
                fenced,
            )


def _judge(earlier: Touch, later: Touch) -> tuple[Flaw, str] | None:
    """Return what is wrong between two conflicting touches, or None."""
    known = later.clock[:, earlier.component] >= earlier.over
    if not earlier.writes:
        if known[Row.EXECUTED]:
            needs_fence = later.after_fenced_reads and not earlier.is_asynchronous
            if needs_fence and not known[Row.FENCED] and not known[Row.CROSSED]:
                text = "no proxy fence lies between an ordinary read and this write"
                return Flaw.MISSING_PROXY_FENCE, f"{text} of the same bytes through the async proxy"
            return None
        what = "asynchronous read" if earlier.is_asynchronous else "read"
        return Flaw.OVERWRITE, f"nothing orders this write after an earlier {what} of the same bytes"
    kind = "read" if not later.writes else "write"
    flaw = Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY
    what = "asynchronous write" if earlier.is_asynchronous else "write"
    if not known[Row.VISIBLE]:
        if known[Row.EXECUTED]:
            return flaw, f"an earlier {what} of the same bytes is not made visible to this {kind}"
        return flaw, f"nothing orders this {kind} after an earlier {what} of the same bytes"
    if earlier.proxy is Proxy.ASYNC or later.proxy is Proxy.GENERIC or known[Row.FENCED]:
        return None
    if known[Row.CROSSED]:
        if earlier.is_asynchronous:
            return None
        text = "the proxy fence is not on the side of the thread that wrote these bytes"
        return Flaw.MISSING_PROXY_FENCE, f"{text}: this {kind} through the async proxy may miss them"
    text = "no proxy fence lies between a generic write and"
    return Flaw.MISSING_PROXY_FENCE, f"{text} this {kind} of the same bytes through the async proxy"


def _sized(touch: Touch, sizes: Mapping[tuple[int, int], int]) -> Touch:
    size = sizes.get((touch.strand, touch.index))
    if size is None or touch.span.exact or touch.span.start < 0:
        return touch
    return replace(touch, span=Span(touch.span.cta, touch.span.start, size))


def _slot_starts(protocol: Protocol, touches: Sequence[Touch]) -> Mapping[int, Sequence[int]]:
    """Return where slots start in each CTA: where copies start to write or read."""
    starts: dict[int, set[int]] = {}
    for touch in touches:
        action = protocol.strands[touch.strand].actions[touch.index]
        if isinstance(action, Transfer) and action.pipeline not in MATRIX_PIPELINES:
            starts.setdefault(touch.span.cta, set()).add(touch.span.start)
    return {cta: sorted(found) for cta, found in starts.items()}


def _extended(span: Span, starts: Mapping[int, Sequence[int]]) -> Span:
    if span.exact:
        return span
    known = starts.get(span.cta, ())
    place = bisect_left(known, span.start + max(span.size, 1))
    end = known[place] if place < len(known) else _NO_LIMIT
    return Span(span.cta, span.start, end - span.start, exact=False)


def _show(span: Span) -> str:
    return f"shared memory {span.start:#x} to {span.end - 1:#x} of CTA {span.cta}"
