"""Accesses put together: a quick look says nothing that looking at each of them does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Fence,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Flaw, Outcome, Problem
from ptxcheck.protocols.model.sync_objects import NamedBarrier
from ptxcheck.protocols.proof.coalesced_accesses import examined
from ptxcheck.protocols.proof.search import examine

MEET = Rendezvous(50, NamedBarrier(0, 0), 1, 2, True)
PLACES = [Span(0, 1024 + 16 * n, 16) for n in range(4)]


def pair(first: tuple[Action, ...], second: tuple[Action, ...]) -> Protocol:
    return Protocol((Strand(0, 0, 1, "warp 0", first), Strand(0, 1, 1, "warp 1", second)), 2)


def writes(*points: int) -> tuple[Action, ...]:
    """Return one store by each point, to the places in order."""
    return tuple(Access(point, (), (place,)) for point, place in zip(points, PLACES, strict=False))


def reads(*points: int) -> tuple[Action, ...]:
    return tuple(Access(point, (place,)) for point, place in zip(points, PLACES, strict=False))


def looked_closely(protocol: Protocol) -> tuple[Outcome, int]:
    """Return the outcome, and how often each access was looked at."""
    looks: list[Protocol] = []

    def close(each: Protocol) -> Outcome:
        looks.append(each)
        return examine(each)

    return examined(protocol, close), len(looks)


def test_ordered_accesses_need_no_closer_look() -> None:
    outcome, looks = looked_closely(pair((*writes(1, 2, 3, 4), MEET), (MEET, *reads(5, 6, 7, 8))))
    assert (outcome.problems, looks) == ((), 0)


def test_a_race_of_one_of_many_is_told_of_it() -> None:
    early = Access(9, (PLACES[2],))
    outcome, looks = looked_closely(pair((*writes(1, 2, 3, 4), MEET), (early, MEET, *reads(5, 6))))
    assert looks == 1
    assert {(p.flaw, p.point) for p in outcome.problems} & {(Flaw.READ_TOO_EARLY, 9), (Flaw.OVERWRITE, 3)}


def test_stores_by_the_same_instruction_are_told_from_others_behind_it() -> None:
    """Both warps start with the same two stores, which is no race; the third one of each is another instruction's."""
    alike = writes(1, 2)
    outcome, looks = looked_closely(pair(alike, alike))
    assert (outcome.problems, looks) == ((), 1)
    crossed = pair((*alike, Access(3, (), (PLACES[2],))), (*alike, Access(4, (), (PLACES[2],))))
    assert [p.flaw for p in examined(crossed, examine).problems] == [Flaw.WRITES_COLLIDE]


def test_stores_and_loads_of_a_strand_are_no_atomic_access() -> None:
    both = (*writes(1), *reads(2), *writes(3), *reads(4))
    outcome = examined(pair(both, both[2:]), examine)
    assert {p.flaw for p in outcome.problems} & {Flaw.WRITES_COLLIDE, Flaw.OVERWRITE}


@pytest.mark.parametrize("fenced", [True, False])
def test_proxy_fences(fenced: bool) -> None:
    fence: tuple[Action, ...] = (Fence(40, proxy=True),) if fenced else ()
    copy = Transfer(60, (), "bulk", reads=tuple(PLACES[:2]))
    protocol = pair((*writes(1, 2), *fence, MEET), (MEET, copy))
    quick, close = examined(protocol, partial(examine)), examine(protocol)
    assert [(p.flaw, p.point) for p in quick.problems] == [(p.flaw, p.point) for p in close.problems]
    assert (Flaw.MISSING_PROXY_FENCE in {p.flaw for p in quick.problems}) == (not fenced)


@pytest.mark.parametrize("are_told", [True, False])
def test_what_earlier_runs_have_told_is_not_looked_at_again(are_told: bool) -> None:
    copy = Transfer(60, (), "bulk", reads=tuple(PLACES[:2]))
    looks: list[Protocol] = []
    asked: list[set[tuple[Flaw, int]]] = []

    def close(each: Protocol) -> Outcome:
        looks.append(each)
        return examine(each)

    def told(problems: Sequence[Problem]) -> bool:
        asked.append({(problem.flaw, problem.point) for problem in problems})
        return are_told

    outcome = examined(pair((*writes(1, 2), MEET), (MEET, copy)), close, told)
    assert asked == [{(Flaw.MISSING_PROXY_FENCE, 60)}]
    assert len(looks) == bool(outcome.problems) == (not are_told)


def test_doubts_are_told_at_an_instruction() -> None:
    somewhere = Access(7, (Span(0, -1, 4, exact=False),))
    outcome, looks = looked_closely(pair((*writes(1, 2), somewhere, somewhere, MEET), (MEET, *reads(3, 4))))
    assert looks == 0
    assert [doubt.point for doubt in outcome.memory_doubts] == [7]


def perhaps(action: Access) -> Access:
    """Return an access that may not happen."""
    return replace(action, certain=False)


def test_accesses_that_may_not_happen_are_ordered_together() -> None:
    early = tuple(perhaps(each) for each in (*writes(1, 2, 3), *reads(4, 5)))  # type: ignore[arg-type]
    late = tuple(perhaps(each) for each in reads(6, 7, 8))  # type: ignore[arg-type]
    outcome, looks = looked_closely(pair((*early, MEET), (MEET, *late)))
    assert (outcome.problems, outcome.memory_doubts, looks) == ((), (), 0)


@pytest.mark.parametrize("seed", range(300))
def test_what_may_go_wrong_is_in_doubt_in_the_quick_look_too(seed: int) -> None:
    chance = Random(seed)

    def some() -> tuple[Action, ...]:
        found: list[Action] = []
        for point in range(chance.randint(1, 5)):
            place, certain = (chance.choice(PLACES),), chance.random() < 0.3
            reads, writes = ((), place) if chance.random() < 0.5 else (place, ())
            found.append(Access(point + 1, reads, writes, certain))
        return tuple(found)

    protocol = pair((*some(), MEET, *some()), (*some(), MEET, *some()))
    quick, close = examined(protocol, examine), examine(protocol)
    assert {(p.flaw, p.point) for p in quick.problems} == {(p.flaw, p.point) for p in close.problems}
    if not close.problems:
        assert quick.memory_doubts or not close.memory_doubts
        points = {action.point for strand in protocol.strands for action in strand.actions}
        assert {each.point for each in quick.memory_doubts} <= points
