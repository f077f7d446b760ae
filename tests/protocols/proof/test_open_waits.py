"""Waits whose phase may be open: those that tell their strand something."""

from __future__ import annotations

from dataclasses import replace

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    Protocol,
    Wait,
)
from ptxcheck.protocols.proof.open_waits import open_waits
from tests.protocols.building import FULL, SLOT, protocol

ASKS = 7


def asked(*actions: Action, parity: int) -> list[int]:
    """Return how many actions of a strand come before each open wait of it; another strand arrives once."""
    ask = Wait(0, FULL, parity)
    built = protocol({FULL: 1}, [Arrive(0, FULL, 1)], [*actions, ask])
    strands = []
    for strand in built.strands:
        own = tuple(replace(a, point=ASKS) if isinstance(a, Wait) else a for a in strand.actions)
        strands.append(replace(strand, actions=own, events=tuple(range(len(own)))))
    return [event for _, event in open_waits(Protocol(tuple(strands), 2), {ASKS})]


def test_a_wait_for_a_phase_to_come_is_open() -> None:
    assert asked(parity=0) == [1]


def test_the_phase_before_the_first_is_over() -> None:
    assert asked(parity=1) == []


def test_a_phase_that_was_waited_for_is_over() -> None:
    assert asked(Wait(0, FULL, 0), Access(0, reads=(SLOT,)), parity=0) == [1]
