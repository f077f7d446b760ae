"""One run as a chart: lanes of roles, of units that work asynchronously and of barriers, over the moments of the run.

A moment is one step of the longest chain of steps that must follow each other (`moments`); what stands at one moment
is independent of each other. A role is shown by one strand. Asynchronous work lasts from its issue to the first step
that knows it to be complete: a wait for a phase that it counts in, or for its group.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..protocols.model.actions import Span


class EventKind(Enum):
    """What a step is, as far as pictures tell steps apart."""

    SETUP = "setup"
    """An mbarrier is initialised or invalidated, or registers change hands."""
    ARRIVE = "arrive"
    WAIT = "wait"
    ISSUE = "issue"
    """Asynchronous work starts."""
    GROUP = "group"
    """A group of asynchronous work is closed, or waited for."""
    MEET = "meet"
    """A named or cluster barrier."""
    FENCE = "fence"
    ACCESS = "access"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of the strand that stands for a role."""

    order: int
    """Number of the step in the whole run, from 1: the same as in a counterexample."""
    moment: int
    lane: int
    """Index of the role."""
    kind: EventKind
    text: str
    point: int
    barriers: tuple[int, ...] = ()
    """Indices of `RunChart.barriers`."""
    phase: int | None = None
    causes: tuple[int, ...] = ()
    """Indices of the events, one of each role, that let this wait pass."""
    count: int = 1
    """Steps that follow each other and do the same."""
    is_stuck: bool = False
    """True when the step never comes to its end."""
    is_bad: bool = False
    """True for the step that the problem is about."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Threads, or a unit of the hardware, of one CTA."""

    name: str
    cta: int


@dataclass(frozen=True, slots=True)
class Work:
    """Asynchronous work, drawn as a bar."""

    lane: int
    """Index of `RunChart.units`."""
    event: int
    """Index of the event that starts it."""
    start: int
    end: int | None
    """Moment at which somebody knows that it is done; None when nobody does in this run."""
    count: int
    spans: tuple[Span, ...]
    """Bytes of shared memory that it reads or writes."""
    writes: bool


@dataclass(frozen=True, slots=True)
class BarrierState:
    """A barrier from a moment on."""

    moment: int
    phase: int | None
    """Phase or generation; None while it is not initialised."""
    pending: int
    """Arrivals that are missing."""
    count: int
    expected: str = ""
    """Bytes that are expected in this phase, "" for none."""
    completed: str = ""


@dataclass(frozen=True, slots=True)
class BarrierLane:
    """One barrier and its states, by moment."""

    name: str
    cta: int
    is_mbarrier: bool
    states: tuple[BarrierState, ...]


@dataclass(frozen=True, slots=True)
class RunChart:
    """What a picture of one run shows."""

    roles: tuple[Lane, ...]
    units: tuple[Lane, ...]
    barriers: tuple[BarrierLane, ...]
    events: tuple[Event, ...]
    work: tuple[Work, ...]
    last: int
    """The last moment."""
    left_out: int
    """Steps after the last one that is drawn."""
