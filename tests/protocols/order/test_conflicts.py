"""Pairs of accesses, found for all bytes together: the same that a walk over every byte finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.model.actions import (
    Access,
    Barrier,
    Protocol,
    Proxy,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Outcome
from ptxcheck.protocols.order.clock import Row
from ptxcheck.protocols.order.conflicts import (
    Pairs,
    Told,
    Touch,
    columns_of,
    compare,
)
from ptxcheck.protocols.order.races import Races
from ptxcheck.protocols.proof.coalesced_accesses import examined

_STRANDS = 3
_COMPONENTS = 5

_spans = st.lists(
    st.builds(Span, st.integers(0, 1), st.integers(0, 6), st.integers(0, 4), st.booleans()),
    min_size=1,
    max_size=2,
)


@st.composite
def _touches(draw: st.DrawFn) -> list[Touch]:
    found = []
    for index in range(draw(st.integers(0, 12))):
        strand = draw(st.integers(0, _STRANDS - 1))
        component = draw(st.sampled_from([strand, *range(_STRANDS, _COMPONENTS)]))
        clock = draw(
            st.lists(st.integers(0, 3), min_size=len(Row) * _COMPONENTS, max_size=len(Row) * _COMPONENTS)
        )
        spans = tuple(draw(_spans))
        found.append(
            Touch(
                strand,
                draw(st.integers(0, index)),
                index,
                spans,
                draw(st.booleans()),
                draw(st.sampled_from(Proxy)),
                draw(st.booleans()),
                component,
                draw(st.integers(0, 3)),
                np.array(clock, dtype=np.int32).reshape(len(Row), _COMPONENTS),
                is_exact=all(span.exact for span in spans),
            )
        )
    return found


def _by_bytes(touches: list[Touch]) -> set[tuple[int, int]]:
    """Return the pairs that meet in some byte: each access with the last writes, a write with the reads since."""
    writes: dict[tuple[int, int], list[Touch]] = {}
    reads: dict[tuple[int, int], dict[tuple[int, Proxy], Touch]] = {}
    found = set()
    for touch in touches:
        places = {(span.cta, at) for span in touch.spans for at in range(span.start, span.end)}
        for place in places:
            last = writes.setdefault(place, [])
            since = reads.setdefault(place, {})
            for earlier in (*last, *(since.values() if touch.writes else ())):
                is_own = (earlier.strand, earlier.index) == (touch.strand, touch.index)
                if not is_own and not (earlier.combines and touch.combines):
                    found.add((earlier.point, touch.point))
            if not touch.writes:
                since[touch.component, touch.proxy] = touch
            elif touch.combines and last and last[0].combines:
                last.append(touch)
            else:
                writes[place], reads[place] = [touch], {}
    return found


@given(_touches())
def test_the_pairs_are_those_of_each_byte(touches: list[Touch]) -> None:
    found: list[tuple[int, int]] = []

    def report(earlier: Touch, later: Touch, _: tuple[int, int]) -> Told:
        found.append((earlier.point, later.point))
        return Told.FINE

    left, stopped = compare(touches, report, 1000)
    assert stopped is None
    assert left <= 1000
    assert set(found) == _by_bytes(touches)
    assert [later for _, later in found] == sorted(later for _, later in found)


@given(_touches())
def test_the_filter_leaves_the_pairs_that_are_judged_to_be_races(touches: list[Touch]) -> None:
    """Else a race would be passed over, or time spent on what is none."""
    strands = tuple(Strand(index % 2, index, 1, "", ()) for index in range(_STRANDS))
    races = Races(Protocol(strands, _STRANDS))
    places = [(a, b) for b in range(len(touches)) for a in range(b)]
    if not places:
        return
    earlier, later = (np.array(each, dtype=np.int64) for each in zip(*places, strict=True))
    kept = races.among(Pairs(touches, columns_of(touches), earlier, later))
    judged = [races.race(touches[a], touches[b]) is not None for a, b in places]
    assert kept.tolist() == judged


def test_accesses_beyond_the_budget_are_told() -> None:
    touches = [
        Touch(
            0, n, n, (Span(0, 0, 4),), True, Proxy.GENERIC, False, 0, n + 1, np.zeros((len(Row), 1), np.int32)
        )
        for n in range(5)
    ]
    _, stopped = compare(touches, lambda *_: Told.FINE, 3)
    assert stopped is touches[3]


def _examined(*strands: tuple[Access | Transfer, ...]) -> Outcome:
    seen: list[Protocol] = []

    def examine(protocol: Protocol) -> Outcome:
        seen.append(protocol)
        return Outcome((), (), ())

    built = tuple(Strand(0, n, 1, "", actions) for n, actions in enumerate(strands))
    outcome = examined(Protocol(built, len(built)), examine)
    assert outcome.steps or seen
    return outcome


def test_reads_of_the_matrix_unit_are_put_together() -> None:
    def multiply(point: int, start: int) -> Transfer:
        return Transfer(point, (), "wgmma", reads=(Span(0, start, 16),))

    apart = _examined(
        (multiply(1, 0), multiply(2, 16), multiply(3, 32)), (Access(4, writes=(Span(0, 64, 4),)),)
    )
    assert len(apart.steps) == 2
    # A look that finds a race says nothing: the protocol itself is judged.
    assert not _examined((multiply(1, 0), multiply(2, 16)), (Access(3, writes=(Span(0, 16, 4),)),)).steps
    # A copy that completes on an mbarrier stays what it is.
    copy = Transfer(5, ((Barrier(0, 0), 16),), reads=(Span(0, 0, 16),))
    assert not _examined((copy, copy)).steps


def test_atomics_between_reads_end_with_the_budget() -> None:
    rows = np.zeros((len(Row), 40), dtype=np.int32)
    span = (Span(0, 0, 4),)
    touches = [
        Touch(strand, 0, 0, span, writes, Proxy.GENERIC, writes, strand, 1, rows)
        for strand in range(20)
        for writes in (False, True)
    ]
    pairs = 0

    def note(*_: object) -> Told:
        nonlocal pairs
        pairs += 1
        return Told.FINE

    assert compare(touches, note, 10_000)[1] is None
    assert pairs > 200
    assert compare(touches, note, 100)[1] is not None
