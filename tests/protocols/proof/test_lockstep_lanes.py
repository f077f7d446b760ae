"""Lanes that come to a wait together: what only a lane that falls behind breaks is strict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    Barrier,
    Commit,
    Expect,
    Init,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier
from ptxcheck.protocols.proof.search import examine
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.protocols.symex.values.symbol import atom

FULL, EMPTY = Barrier(0, 0), Barrier(0, 8)
ROUNDS = 3
START = 1
ALL = 33


def ring(*, together: bool) -> Protocol:
    """Return a ring of one stage: a lane fills it, and the other lanes of its warp only wait for room with it."""
    meet = Rendezvous(START, ClusterBarrier(), 1, ALL, True)
    fills: list[Action] = [Init(0, FULL, 1), Init(0, EMPTY, 1), meet]
    idles: list[Action] = [Rendezvous(START, ClusterBarrier(), 31, ALL, True)]
    drains: list[Action] = [meet]
    fills_events, idles_events = [0, 1, 2], [2]
    for turn in range(ROUNDS):
        wait = Wait(10, EMPTY, (turn & 1) ^ 1)
        event = 10 + 2 * turn
        fills += [wait, Arrive(11, FULL, 1)]
        fills_events += [event, event + 1]
        idles.append(wait)
        idles_events.append(event if together else event + 100)
        drains += [Wait(20, FULL, turn & 1), Arrive(21, EMPTY, 1)]
    return Protocol(
        (
            Strand(0, 0, 1, "warp 0 lane 0", tuple(fills), tuple(fills_events)),
            Strand(0, 0, (1 << 32) - 2, "warp 0, 31 lanes", tuple(idles), tuple(idles_events)),
            Strand(0, 1, 1, "warp 1", tuple(drains), tuple(range(len(drains)))),
        ),
        ALL,
    )


def test_lanes_that_wait_together_miss_no_phase() -> None:
    outcome = examine(ring(together=True))
    assert outcome.problems == ()
    assert Flaw.MISSED_PHASE in {problem.flaw for problem in outcome.strict}


def test_lanes_that_come_there_apart_may() -> None:
    outcome = examine(ring(together=False))
    assert {Flaw.MISSED_PHASE, Flaw.DEADLOCK} & {p.flaw for p in outcome.problems if p.demonstrated}


def with_reads(good: Protocol, read: Span, written: Span) -> Protocol:
    """Return a ring whose other lanes read what they waited for, and whose third strand writes some bytes first."""
    fills, idles, drains = good.strands
    actions: list[Action] = []
    events: list[int] = []
    for action, event in zip(idles.actions, idles.events, strict=True):
        actions.append(action)
        events.append(event)
        if isinstance(action, Wait):
            actions.append(Access(12, reads=(read,)))
            events.append(event + 1)
    idles = replace(idles, actions=tuple(actions), events=tuple(events))
    writes = (Access(19, writes=(written,)), *drains.actions)
    drains = replace(drains, actions=writes, events=tuple(range(len(writes))))
    return replace(good, strands=(fills, idles, drains))


@pytest.mark.parametrize(
    "written", [Span(0, 1024, 64), Span(0, 1000, 16, exact=False)], ids=["known extent", "unknown extent"]
)
def test_lanes_that_use_what_they_waited_for_may_miss_a_phase(written: Span) -> None:
    outcome = examine(with_reads(ring(together=True), Span(0, 1040, 4), written))
    assert {Flaw.MISSED_PHASE, Flaw.DEADLOCK} & {p.flaw for p in outcome.problems if p.demonstrated}


@pytest.mark.parametrize("written", [Span(0, 1044, 64), Span(1, 1024, 64)], ids=["behind", "other CTA"])
def test_lanes_that_read_something_else_in_between_miss_none(written: Span) -> None:
    outcome = examine(with_reads(ring(together=True), Span(0, 1040, 4), written))
    assert outcome.problems == ()


def test_a_missed_phase_of_another_warp_is_one() -> None:
    good = ring(together=True)
    late = Strand(0, 2, 1, "warp 2", tuple(Wait(30, FULL, turn & 1) for turn in range(ROUNDS)), (0, 1, 2))
    start = Strand(
        late.cta, late.warp, 1, late.name, (good.strands[2].actions[0], *late.actions), (0, 1, 2, 3)
    )
    meets = tuple(
        Strand(s.cta, s.warp, s.lanes, s.name, tuple(_of_all(a, ALL + 1) for a in s.actions), s.events)
        for s in (*good.strands, start)
    )
    outcome = examine(Protocol(meets, ALL + 1))
    assert any(problem.flaw is Flaw.MISSED_PHASE for problem in outcome.problems)


def _of_all(action: Action, needed: int) -> Action:
    if isinstance(action, Rendezvous):
        return Rendezvous(action.point, action.name, action.threads, needed, True)
    return action


def expecting(*, first: bool) -> Protocol:
    """Return a strand that announces bytes twice, before both copies or with one in between."""
    boxes = [atom("box_bytes", f"param+{offset}") for offset in (0, 128)]
    one, other = (
        Transfer(3 + n, ((FULL, box),), writes=(Span(0, 1024 * n, 16, exact=False),))
        for n, box in enumerate(boxes, start=1)
    )
    arrive, expect = Arrive(1, FULL, 1, 4096), Expect(2, FULL, 4096)
    order: tuple[Action, ...] = (arrive, expect, one, other) if first else (arrive, one, expect, other)
    return Protocol((Strand(0, 0, 1, "warp 0", (Init(0, FULL, 1), *order, Wait(9, FULL, 0))),), 1)


def test_bytes_announced_late_but_before_all_copies_are_waited_for() -> None:
    assert simulate(expecting(first=True)).problems == ()


def test_bytes_announced_behind_a_copy_may_not_be() -> None:
    assert [problem.flaw for problem in simulate(expecting(first=False)).problems] == [Flaw.LATE_EXPECT]


def allocation(*, visible: bool, ordered: bool, blocks: bool) -> Protocol:
    """Return a warp that writes an address, and another one that reads it behind a barrier, if at all."""
    place = (Span(0, 1024, 4),)
    meet = (Rendezvous(2, NamedBarrier(0, 0), 1, 2, True, orders=visible),) if ordered else ()
    writer = (Access(1, writes=place, blocks=blocks), *meet)
    reader = (*meet, Access(3, reads=place))
    return Protocol((Strand(0, 0, 1, "warp 0", writer), Strand(0, 1, 1, "warp 1", reader)), 2)


def test_address_of_an_allocation_is_read_in_order_of_execution() -> None:
    outcome = simulate(allocation(visible=False, ordered=True, blocks=True))
    assert outcome.problems == ()
    assert [problem.flaw for problem in outcome.strict] == [Flaw.READ_TOO_EARLY]


def test_address_of_an_allocation_is_not_read_out_of_order() -> None:
    for protocol in (
        allocation(visible=False, ordered=True, blocks=False),
        allocation(visible=True, ordered=False, blocks=True),
    ):
        assert [problem.flaw for problem in simulate(protocol).problems] == [Flaw.READ_TOO_EARLY]


OTHER = Barrier(1, 0)


def lanes_of_two_ctas(*, at_once: bool, between: Action | None = None) -> Protocol:
    """Return two warps of which two lanes arrive at both CTAs, round after round, and wait at their own."""
    strands = []
    for cta in (0, 1):
        for lane in (0, 1):
            start = Rendezvous(START, ClusterBarrier(), 1, 4, True)
            actions: list[Action] = [Init(0, Barrier(cta, 0), 2), start] if lane == 0 else [start]
            events = [0, 1][-len(actions) :]
            for turn in range(ROUNDS):
                steps: list[Action] = [Arrive(10, Barrier(lane, 0), 1), Wait(11, Barrier(cta, 0), turn & 1)]
                steps = [*([between] if between and lane else []), *steps]
                first = 10 * (turn + 1)
                numbers = [first + 5, first + 6] if at_once else [first + 2 * lane, first + 6]
                actions += steps
                events += [first, *numbers] if between and lane else numbers
            strands.append(Strand(cta, 0, 1 << lane, f"CTA {cta} lane {lane}", tuple(actions), tuple(events)))
    return Protocol(tuple(strands), 4)


def test_lanes_that_arrive_by_one_instruction_arrive_at_one_moment() -> None:
    outcome = examine(lanes_of_two_ctas(at_once=True))
    assert outcome.problems == ()
    assert Flaw.EARLY_ARRIVAL in {problem.flaw for problem in outcome.strict}


@pytest.mark.parametrize(
    ("at_once", "between"), [(False, None), (True, Access(9, reads=(Span(0, 4096, 4),)))]
)
def test_lanes_that_come_to_arrivals_apart_may_not(at_once: bool, between: Action | None) -> None:
    assert examine(lanes_of_two_ctas(at_once=at_once, between=between)).problems


def test_races_of_lanes_stay_races() -> None:
    """One lane stores out of the slot, and the other one hands it back by the instruction behind that."""
    room, other = Barrier(0, 16), Barrier(0, 24)
    slot = Span(0, 4096, 16)
    start = Rendezvous(START, ClusterBarrier(), 1, 4, True)
    lanes: list[list[Action]] = [[start], [start]]
    events: list[list[int]] = [[0], [0]]
    fills: list[Action] = [*(Init(0, each, 1) for each in (FULL, EMPTY, room, other)), start]
    drains: list[Action] = [start]
    for turn in range(ROUNDS):
        first = 10 * (turn + 1)
        for own, numbers in zip(lanes, events, strict=True):
            own += [Wait(10, FULL, turn & 1), Wait(11, EMPTY, turn & 1)]
            numbers += [first, first + 1]
        lanes[1] += [
            Transfer(12, (), "bulk", reads=(slot,)),
            Commit(14, "bulk"),
            WaitGroup(15, "bulk", 0, read=True),
        ]
        events[1] += [first + 2, first + 3, first + 4]
        for own, numbers, barrier in zip(lanes, events, (room, other), strict=True):
            own.append(Arrive(13, barrier, 1))
            numbers.append(first + 5)
        before = (turn - 1) & 1
        fills += [Wait(20, room, before)] * bool(turn) + [Arrive(22, FULL, 1, 16)]
        fills.append(Transfer(21, ((FULL, 16),), writes=(slot,)))
        drains += [Wait(30, other, before)] * bool(turn) + [Arrive(31, EMPTY, 1)]
    strands = [
        Strand(0, 0, 1 << lane, f"lane {lane}", tuple(lanes[lane]), tuple(events[lane])) for lane in (0, 1)
    ]
    strands += [
        Strand(0, warp, 1, f"warp {warp}", tuple(own), tuple(range(len(own))))
        for warp, own in ((1, fills), (2, drains))
    ]
    outcome = examine(Protocol(tuple(strands), 4))
    assert Flaw.OVERWRITE in {problem.flaw for problem in outcome.problems if problem.demonstrated}
