"""Which events are on two sides of a branch at which lanes of a warp part."""

from __future__ import annotations

from itertools import combinations

import pytest

from ptxcheck.protocols.model.partings import partings_of, threads_apart
from ptxcheck.protocols.symex.values.trace import Event, Shape, Side, Trace
from tests.protocols.machine_runs import run

HEAD = "mov.u32 %r1, smem; mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, {lanes}; setp.eq.u32 %p2, %r2, 0;"
FIRST, SECOND, BEHIND = (f"st.shared.u32 [%r1+{place}], %r2;" for place in (0, 4, 8))
TWO_SIDES = f"@%p1 bra A; {FIRST} bra B; A: {SECOND} B: {BEHIND}"
BODIES = {
    "two sides": (TWO_SIDES, 16, {(0, 1)}),
    "warps": (TWO_SIDES, 32, set()),
    "one side": (f"@%p1 bra B; {FIRST} {SECOND} B: {BEHIND}", 16, set()),
    "predicates": (f"@%p1 {FIRST} @!%p1 {SECOND} {BEHIND}", 16, set()),
    "one side has ended": (f"@%p1 bra A; {FIRST} ret; A: {SECOND} {BEHIND}", 16, {(0, 1), (0, 2)}),
    "inside a side": (f"@%p1 bra A; {FIRST} bra B; A: @%p2 bra B; {SECOND} B: {BEHIND}", 16, {(0, 1)}),
}


@pytest.mark.parametrize("name", BODIES)
def test_events_on_two_sides(name: str) -> None:
    body, lanes, wanted = BODIES[name]
    ran = run(HEAD.format(lanes=lanes) + body, threads=64, accesses=True)
    points = sorted({event.point for event in ran.trace.events})
    partings = partings_of([ran.trace])
    found = {
        tuple(sorted((points.index(one.point), points.index(other.point))))
        for one, other in combinations(ran.trace.events, 2)
        if partings.are_apart(0, one.index, other.index)
    }
    assert found == wanted
    assert bool(list(threads_apart(ran.trace))) is bool(wanted)


def test_no_side_is_that_of_warps_that_are_together() -> None:
    ran = run(HEAD.format(lanes=48) + TWO_SIDES, threads=96, accesses=True)
    second = sum(1 << thread for thread in range(32, 64))
    assert all(not threads & ~second for threads in threads_apart(ran.trace))
    assert {threads.bit_count() for threads in threads_apart(ran.trace)} == {16}


def _trace(*sides: Side | None) -> Trace:
    """Return a trace with an event of the threads of each side."""
    events = tuple(
        Event(number, 0, 3 if side is None else side.threads, {}, 0, side=side)
        for number, side in enumerate(sides)
    )
    return Trace(0, Shape((32, 1, 1)), events, (), ())


def test_lanes_that_went_on_from_a_join_without_others() -> None:
    """They are in no order with these; in step they would have waited for them."""
    first, second = Side(None, 1, 1), Side(None, 1, 2)
    early, late = Side(None, -1, 1), Side(None, -1, 2)
    partings = partings_of([_trace(first, early, second, late, None)])
    assert partings.are_on_two_sides(0, 0, 2)
    for one, other in ((1, 2), (1, 3)):
        assert partings.are_apart(0, one, other)
        assert not partings.are_on_two_sides(0, one, other)
    assert not any(partings.are_apart(0, event, 4) for event in range(4))


def test_a_side_inside_another() -> None:
    outer = Side(None, 1, 3)
    inner, beside = Side(outer, 2, 1), Side(outer, 2, 2)
    partings = partings_of([_trace(inner, beside, outer, Side(None, 1, 4))])
    assert [partings.are_on_two_sides(0, *pair) for pair in ((0, 1), (0, 2), (0, 3), (2, 3))] == [
        True,
        False,
        True,
        True,
    ]
