"""Explicit states of a protocol: where strands are, what barriers hold, which work is in flight.

States are compared with a reference schedule as they are made: an action that counts in another phase, or observes
another one, than there ends the search. That is why a state needs no memory of past phases.
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
