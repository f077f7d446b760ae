"""Explicit states: what they hold does not depend on the way to them."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.actions import Protocol, Rendezvous, Strand, Wait
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, CountedBarrier, NamedBarrier
from ptxcheck.protocols.proof.explicit_state import State, WrongError
from ptxcheck.protocols.proof.transition_system import TransitionSystem
from tests.protocols.building import FULL, expected_load, protocol

FIRST, SECOND = NamedBarrier(0, 1), NamedBarrier(0, 2)


def arrivals(*names: CountedBarrier) -> Protocol:
    """Return a protocol in which one strand for each barrier arrives there and does not wait."""
    strands = [
        Strand(0, index, 1, f"warp {index}", (Rendezvous(index, name, 1, 2, waits=False),))
        for index, name in enumerate(names)
    ]
    return Protocol(tuple(strands), len(strands))


def after(system: TransitionSystem, *strands: int, of: State | None = None) -> State:
    """Return the state after a step of each of some strands, from the first state on or of another one."""
    state = of or system.start()
    for strand in strands:
        made = system.step(state, strand)
        assert made is not None
        state = made[0]
    return state


@pytest.mark.parametrize("names", [(FIRST, SECOND), (SECOND, FIRST), (ClusterBarrier(), FIRST)])
def test_two_ways_to_a_state_lead_to_one_state(names: tuple[CountedBarrier, ...]) -> None:
    system = TransitionSystem(arrivals(*names), {})
    assert after(system, 0, 1) == after(system, 1, 0)


def test_the_last_arrival_ends_the_generation_of_its_own_barrier_alone() -> None:
    system = TransitionSystem(arrivals(FIRST, SECOND, FIRST), {})
    (_, first), (_, second) = after(system, 0, 1, 2).meetings
    assert (first.generation, second.generation) == (1, 0)
    assert second.strands == {1}


def test_an_arrival_in_another_generation_than_the_reference_is_wrong() -> None:
    system = TransitionSystem(arrivals(FIRST, FIRST, FIRST), {(2, 0): 0})
    with pytest.raises(WrongError) as caught:
        after(system, 0, 1, 2)
    assert (caught.value.wrong.flaw, caught.value.wrong.name) == (Flaw.EARLY_ARRIVAL, FIRST)


def test_bytes_in_flight_keep_a_wait_back() -> None:
    system = TransitionSystem(protocol({FULL: 1}, [*expected_load(), Wait(0, FULL, 0)]), {})
    state = system.start()
    while (made := system.step(state, 0)) is not None:
        state = made[0]
    (flight,) = state.flights
    assert isinstance(system.next_action(state, 0), Wait)
    state, _ = system.complete(state, flight)
    assert system.is_done(after(system, 0, of=state))
