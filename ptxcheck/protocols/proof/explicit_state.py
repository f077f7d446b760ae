"""Explicit states of a protocol: where strands are, what barriers hold, which work is in flight.

Property: two equal states have the same schedules behind them.

Argument: a strand does what its place in its actions says; what it may do next depends on what barriers hold and on
the work that is in flight, and on nothing else. Past phases need not be remembered, as states are compared with a
reference schedule when they are made: an action that counts in another phase than there ends the search.

Not covered: shared memory and tensor memory: a state says nothing of what accesses see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..model.actions import SyncObject
from ..model.outcome import Flaw


class Held(NamedTuple):
    """A live mbarrier."""

    expected: int
    pending: int
    bytes: int
    phase: int


class Gathered(NamedTuple):
    """A counted barrier: its generation, and who has arrived in it."""

    generation: int = 0
    arrived: int = 0
    needed: int = 0
    strands: frozenset[int] = frozenset()
    without_exited: bool = False


class Flight(NamedTuple):
    """Work in flight: strand and number of the action that issued it."""

    strand: int
    number: int


class State(NamedTuple):
    """One state. `inside`: the strand has arrived at the rendezvous that it is at."""

    at: tuple[int, ...]
    inside: tuple[bool, ...]
    barriers: tuple[Held | None, ...]
    """By the slot of their name in `MbarrierTransitions`; None for those that are not live."""
    meetings: tuple[tuple[int, Gathered], ...]
    """Those at which somebody has arrived, by the slot of their name in `RendezvousTransitions`."""
    flights: tuple[Flight, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a schedule ends in: the flaw, who and where."""

    flaw: Flaw
    strand: int
    point: int
    name: SyncObject | None
    phase: int
    detail: str


class WrongError(Exception):
    """A step that goes wrong."""

    def __init__(self, wrong: Wrong) -> None:
        super().__init__(wrong.detail)
        self.wrong = wrong
