"""Loops: after a few rounds a state stands for all rounds, and what goes wrong in some round is still found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.protocol_loops import FailedError, Loop, StuckError, rounds_to_fixpoint
from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Fence,
    Init,
    Proxy,
    Rendezvous,
    Span,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.sync_objects import NamedBarrier

BYTES = 16


def slot(stage: int) -> Span:
    return Span(0, 1024 * (stage + 1), BYTES)


def full(stage: int) -> Barrier:
    return Barrier(0, 8 * stage)


def empty(stage: int) -> Barrier:
    return Barrier(0, 256 + 8 * stage)


def start(stages: int, consumers: int) -> tuple[list[Action], list[Action]]:
    """Return how the strand begins that makes the barriers, and how the others do."""
    made: list[Action] = []
    for stage in range(stages):
        made += [Init(1, full(stage), 1), Init(1, empty(stage), consumers)]
    meet = Rendezvous(2, NamedBarrier(0, 0), 1, consumers + 1, True)
    return [*made, meet], [meet]


def ring(stages: int, consumers: int = 2, *, released_first: bool = False, parity: int = 1) -> list[Loop]:
    """Return a ring: a producer copies, consumers read; each loop goes round twice, for both parities."""
    first, others = start(stages, consumers)
    load: list[Action] = []
    read: list[Action] = []
    for lap in range(2):
        for stage in range(stages):
            load += [
                Wait(10, empty(stage), lap ^ parity),
                Arrive(11, full(stage), 1, BYTES),
                Transfer(12, ((full(stage), BYTES),), writes=(slot(stage),)),
            ]
            use: list[Action] = [Access(21, reads=(slot(stage),)), Arrive(22, empty(stage), 1)]
            read += [Wait(20, full(stage), lap), *(reversed(use) if released_first else use)]
    return [Loop(first, load), *(Loop(others, read) for _ in range(consumers))]


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("consumers", [1, 3])
def test_a_ring_repeats(stages: int, consumers: int) -> None:
    assert rounds_to_fixpoint(ring(stages, consumers)) <= 3


@pytest.mark.parametrize("stages", [2, 4])
def test_a_slot_that_is_released_before_it_is_read(stages: int) -> None:
    with pytest.raises(FailedError, match="overwrite"):
        rounds_to_fixpoint(ring(stages, released_first=True))


def test_a_producer_that_waits_for_the_wrong_parity() -> None:
    with pytest.raises((FailedError, StuckError)):
        rounds_to_fixpoint(ring(2, parity=0))


def multiplied(stages: int, pending: int) -> list[Loop]:
    """Return a ring whose consumer multiplies with `wgmma` and releases the slot that the one before has read."""
    first, others = start(stages, 1)
    load: list[Action] = []
    use: list[Action] = []
    for lap in range(2):
        for stage in range(stages):
            load += [
                Wait(10, empty(stage), lap ^ 1),
                Arrive(11, full(stage), 1, BYTES),
                Transfer(12, ((full(stage), BYTES),), writes=(slot(stage),)),
            ]
            before = (stage - 1) % stages
            use += [
                Wait(20, full(stage), lap),
                Transfer(21, (), "wgmma", reads=(slot(stage),)),
                Commit(22, "wgmma"),
                WaitGroup(23, "wgmma", pending),
                Arrive(24, empty(before), 1),
            ]
    head: list[Action] = [
        Wait(15, full(0), 0),
        Transfer(16, (), "wgmma", reads=(slot(0),)),
        Commit(17, "wgmma"),
    ]
    # the first use of slot 0 stands in front of the loop, so that the loop is turned by one stage
    return [Loop([*first, *load[:3]], load[3:] + load[:3]), Loop([*others, *head], use[5:] + use[:5])]


def test_groups_of_multiplications_that_overlap() -> None:
    assert rounds_to_fixpoint(multiplied(4, 1)) <= 4


def test_a_slot_released_while_it_is_multiplied() -> None:
    with pytest.raises(FailedError, match="overwrite"):
        rounds_to_fixpoint(multiplied(4, 2))


def copied(stages: int, pending: int) -> list[Loop]:
    """Return threads that copy to slots ahead with `cp.async`, wait for groups, meet, and read what all copied."""
    strands = 2
    loops = []
    for number in range(strands):
        part = [Span(0, slot(stage).start + 8 * number, 8) for stage in range(stages)]

        def copy(stage: int, part: list[Span] = part) -> list[Action]:
            work = Transfer(30, (), "cp.async", writes=(part[stage],), proxy=Proxy.GENERIC)
            return [work, Commit(31, "cp.async")]

        first = [action for stage in range(stages - 1) for action in copy(stage)]
        body: list[Action] = []
        for stage in range(stages):
            body += [
                WaitGroup(32, "cp.async", pending),
                Rendezvous(33, NamedBarrier(0, 1), 1, strands, True),
                Access(34, reads=(slot(stage),)),
                *copy((stage - 1) % stages),
            ]
        loops.append(Loop(first, body))
    return loops


@pytest.mark.parametrize("stages", [3, 4])
def test_copies_in_groups(stages: int) -> None:
    assert rounds_to_fixpoint(copied(stages, stages - 2)) <= 3


def test_copies_that_are_read_a_group_too_early() -> None:
    with pytest.raises(FailedError, match="read-too-early"):
        rounds_to_fixpoint(copied(4, 3))


def in_turns(*, meets_twice: bool) -> list[Loop]:
    """Return two strands that take turns with one buffer, by two named barriers."""
    loops = []
    for number in range(2):
        own, other = NamedBarrier(0, number), NamedBarrier(0, 1 - number)
        body: list[Action] = [
            *([Rendezvous(40, own, 1, 2, True)] if meets_twice else []),
            Access(41, writes=(slot(0),)),
            Rendezvous(42, other, 1, 2, False),
        ]
        first: list[Action] = [] if number else [Rendezvous(39, other, 1, 2, False)]
        loops.append(Loop(first, body))
    loops[0], loops[1] = (
        replace(loops[0], first=[]),
        replace(loops[1], first=[Rendezvous(39, NamedBarrier(0, 0), 1, 2, False)]),
    )
    return loops


def test_turns_by_named_barriers() -> None:
    assert rounds_to_fixpoint(in_turns(meets_twice=True)) <= 3


def test_turns_that_nobody_waits_for() -> None:
    with pytest.raises((FailedError, StuckError)):
        rounds_to_fixpoint(in_turns(meets_twice=False))


def committed(stages: int, *, waits: bool = True) -> list[Loop]:
    """Return a ring whose slots `tcgen05.commit` hands back, with ordinary stores into the slots behind a fence."""
    first, others = start(stages, 1)
    store: list[Action] = []
    use: list[Action] = []
    for lap in range(2):
        for stage in range(stages):
            store += [
                *([Wait(50, empty(stage), lap ^ 1)] if waits else []),
                Access(51, writes=(slot(stage),)),
                Fence(52, proxy=True),
                Arrive(53, full(stage), 1),
            ]
            use += [
                Wait(60, full(stage), lap),
                Transfer(61, (), "tcgen05", reads=(slot(stage),)),
                AsyncArrive(62, empty(stage), 1),
            ]
    return [Loop(first, store), Loop(others, use)]


def test_slots_that_commits_hand_back() -> None:
    assert rounds_to_fixpoint(committed(2)) <= 3


def test_slots_that_are_not_waited_for() -> None:
    with pytest.raises((FailedError, StuckError)):
        rounds_to_fixpoint(committed(2, waits=False))
