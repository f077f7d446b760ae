"""Bytes that an access touches, and how far one may reach whose extent is not known.

Property: what an access certainly touches is in its spans; what it may touch besides is in what `reached` gives.

Argument: a copy or a matrix operand of unknown extent ends where the next slot starts: where another copy starts, or
at an mbarrier. An index that is not known stays inside its variable, or, in dynamic shared memory, behind the start of
its array. Where a proof rests on that, `provisos` says so. Bulk copies move multiples of 16 bytes; where that is not
known of a size, the host is asked for it (`open_sizes`).

Not covered: copies that are larger than their slot (`descriptors` compares boxes with slots).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...verdict import AssumptionSource, Property
from ..model.actions import OPEN_END, Access, Action, Barrier, Init, Protocol, Span, Transfer
from ..model.outcome import Proviso
from .conflicts import Spans, Touch

MATRIX_PIPELINES = frozenset({"wgmma", "tcgen05"})
_NO_LIMIT = 1 << 24
_OF_ACCESSES = frozenset({Property.SLOT_SAFETY})
_OF_BARRIERS = frozenset({Property.SLOT_SAFETY, Property.LIFECYCLE})
_OF_SIZES = frozenset({Property.SLOT_SAFETY, Property.TX_BALANCE})
_OPEN = (
    "an index into dynamic shared memory that is not known counts up from the start of its array, and ends in front of "
    "the next copy or mbarrier"
)


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


def sized(touch: Touch, sizes: Mapping[tuple[int, int], int]) -> Touch:
    """Return a touch whose size equations give, and others as they are."""
    size = sizes.get((touch.strand, touch.index))
    (span, *others) = touch.spans
    if size is None or others or span.exact or span.start < 0:
        return touch
    return replace(touch, spans=(Span(span.cta, span.start, size),), is_exact=touch.certain)


def slot_starts(protocol: Protocol, touches: Sequence[Touch]) -> Mapping[int, Sequence[int]]:
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


def reached(
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


def provisos(touches: Sequence[Touch], barriers: Collection[Barrier]) -> tuple[Proviso, ...]:
    """Return the facts that a proof rests on; what is written might reach one of the mbarriers."""
    found = []
    if any(not span.exact and not span.reach for touch in touches for span in touch.spans):
        text = "each copy and each matrix operand stays inside the slot that it starts in"
        written = [span for touch in touches if touch.writes for span in touch.spans]
        concerned = _OF_BARRIERS if _may_reach(written, barriers) else _OF_ACCESSES
        found.append(Proviso(text, concerned, AssumptionSource.HOST))
    ordinary = [span for touch in touches if not touch.is_asynchronous for span in touch.spans]
    if any(span.reach and not span.is_open for span in ordinary):
        found.append(Proviso("an index into shared memory that is not known stays inside its variable"))
    if any(span.is_open for span in ordinary):
        found.append(Proviso(_OPEN))
    return tuple(found)


def open_sizes(actions: Iterable[Action]) -> tuple[Proviso, ...]:
    """Return what is asked of the host for copies of bytes that may be no multiple of 16."""
    found = {
        Proviso(
            f"{each.open_size} is a multiple of 16: bulk copies move no other numbers of bytes",
            _OF_SIZES,
            AssumptionSource.HOST,
            each.point,
        )
        for each in actions
        if isinstance(each, Transfer) and each.open_size
    }
    return tuple(sorted(found, key=lambda each: (each.point, each.text)))


def _may_reach(written: Iterable[Span], barriers: Collection[Barrier]) -> bool:
    """Tell whether a write whose end is not known starts in front of an mbarrier."""
    return any(
        not span.exact
        and not span.reach
        and any(span.cta == b.cta and span.start < b.offset for b in barriers)
        for span in written
    )


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
