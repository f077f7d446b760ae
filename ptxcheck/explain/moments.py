"""When the steps of a run happen, counted in steps that must come before (Lamport, "Time, clocks, and the ordering of
events in a distributed system", 1978).

Property: the steps of a schedule, sorted by moment and then by their place in it, are a schedule too, in which each
step takes part in the same phase. So a picture may show steps of one moment side by side. What keeps its order:
the steps of a strand; completion of work after its issue; all that completes a phase before what waits for it or
counts in the next; waits for a phase before what completes the next; all arrivals of a meeting before those that
leave it; registers that are given away before those that are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard, TypeVar

from ..protocols.model.actions import (
    TEAM_PIPELINES,
    Action,
    Barrier,
    Commit,
    Init,
    Inval,
    Protocol,
    Registers,
    Rendezvous,
    Wait,
    WaitGroup,
)
from ..protocols.model.outcome import Step
from .barrier_history import replay
from .barrier_names import mbarriers_of

_Key = TypeVar("_Key")

BEFORE_THE_FIRST = -1
"""The phase that a wait sees which passes on a new mbarrier."""


@dataclass(frozen=True)
class TimedRun:
    """A schedule, with the moment of each step and the phases that it counts in or sees."""

    protocol: Protocol
    schedule: tuple[Step, ...]
    moments: tuple[int, ...]
    phases: tuple[dict[Barrier, int], ...]

    def action(self, step: Step) -> Action:
        return self.protocol.strands[step.strand].actions[step.index]

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """Place in the schedule of each action (strand, index) that was done."""
        return {(s.strand, s.index): place for place, s in enumerate(self.schedule) if not s.completes}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Places of the steps by moment."""
        return tuple(sorted(range(len(self.schedule)), key=lambda place: (self.moments[place], place)))


def timed(protocol: Protocol, schedule: Sequence[Step], counts: Callable[[Step], bool]) -> TimedRun:
    """Return a schedule with its moments; see `moments`."""
    found = moments(protocol, schedule, counts)
    return TimedRun(protocol, tuple(schedule), found, tuple(phases_of(protocol, schedule)))


def moments(protocol: Protocol, schedule: Sequence[Step], counts: Callable[[Step], bool]) -> tuple[int, ...]:
    """Return the moment of each step; a step that does not count shares the moment of what comes before it."""
    return _Clock(protocol, schedule).run(counts)


def phases_of(protocol: Protocol, schedule: Sequence[Step]) -> list[dict[Barrier, int]]:
    """Return, for each step, the phase of each mbarrier that it counts in or sees."""
    found: list[dict[Barrier, int]] = []
    before: dict[Barrier, int] = {}
    for step, held in replay(protocol, schedule):
        action = protocol.strands[step.strand].actions[step.index]
        found.append(
            {
                barrier: before.get(barrier, 0) if step.phase is None else step.phase
                for barrier in mbarriers_of(action)
            }
        )
        for barrier in mbarriers_of(action):
            if barrier in held:
                before[barrier] = held[barrier].phase
    return found


class _Clock:
    def __init__(self, protocol: Protocol, schedule: Sequence[Step]) -> None:
        self._protocol = protocol
        self._schedule = schedule
        self._phases = phases_of(protocol, schedule)
        self._later = {(step.strand, step.index) for step in schedule if step.completes}
        self._own = [0] * len(protocol.strands)
        self._issued: dict[tuple[int, int], int] = {}
        self._filled: dict[tuple[object, int | None], int] = {}
        """Latest moment of what counts in a phase, or arrives at a meeting."""
        self._seen: dict[tuple[Barrier, int], int] = {}
        """Latest moment of a wait for a phase."""
        self._touched: dict[Barrier, int] = {}
        self._freed: dict[int, int] = {}
        """Latest moment at which threads of a CTA gave registers away."""
        self._closed: dict[tuple[int, str], int] = {}
        self._met: dict[tuple[object, int | None], int] = {}
        self._meets: dict[tuple[object, int | None], list[int]] = {}
        for step in schedule:
            action = self._action(step)
            if isinstance(action, Rendezvous) and action.arrives and action.waits:
                self._meets.setdefault((action.name, step.phase), []).append(step.strand)
        self._closing = {
            (barrier, phase): number
            for number, step in enumerate(schedule)
            for barrier, phase in self._phases[number].items()
            if self._contributes(step)
        }

    def _action(self, step: Step) -> Action:
        return self._protocol.strands[step.strand].actions[step.index]

    def _contributes(self, step: Step) -> bool:
        """Tell whether a step counts in a phase now: work in flight counts when it completes."""
        if isinstance(self._action(step), Wait | Init | Inval):
            return False
        return step.completes or (step.strand, step.index) not in self._later

    def run(self, counts: Callable[[Step], bool]) -> tuple[int, ...]:
        found: list[int] = []
        for number, step in enumerate(self._schedule):
            action = self._action(step)
            met = self._met.get((action.name, step.phase)) if _is_meeting(action) else None
            moment = met if met is not None else max(self._before(number, step, action)) + counts(step)
            self._note(number, step, action, moment)
            found.append(moment)
        return tuple(found)

    def _before(self, number: int, step: Step, action: Action) -> Iterable[int]:
        """Yield the moments of what must come before a step."""
        yield self._issued.get((step.strand, step.index), 0) if step.completes else self._own[step.strand]
        match action:
            case Init() | Inval():
                yield self._touched.get(action.barrier, 0)
            case Wait():
                yield self._filled.get((action.barrier, self._phases[number][action.barrier]), 0)
            case Rendezvous():
                yield from self._before_meeting(step, action)
            case Registers() if action.increases:
                yield self._freed.get(action.cta, 0)
            case WaitGroup() if action.pipeline in TEAM_PIPELINES:
                for member in self._protocol.team(step.strand):
                    yield self._closed.get((member, action.pipeline), 0)
            case _ if self._contributes(step):
                for barrier, phase in self._phases[number].items():
                    yield self._filled.get((barrier, phase - 1), 0)
                    if self._closing[barrier, phase] == number:
                        yield self._seen.get((barrier, phase - 1), 0)

    def _before_meeting(self, step: Step, action: Rendezvous) -> Iterable[int]:
        if step.phase is not None:
            yield self._filled.get((action.name, step.phase - 1), 0)
        if action.waits:
            yield self._filled.get((action.name, step.phase), 0)
            for strand in self._meets.get((action.name, step.phase), ()) if action.arrives else ():
                yield self._own[strand]

    def _note(self, number: int, step: Step, action: Action, moment: int) -> None:
        if not step.completes:
            self._own[step.strand] = moment
            self._issued[step.strand, step.index] = moment
        for barrier, phase in self._phases[number].items():
            _raise(self._touched, barrier, moment)
            if isinstance(action, Wait):
                _raise(self._seen, (barrier, phase), moment)
            elif isinstance(action, Init):
                _raise(self._filled, (barrier, BEFORE_THE_FIRST), moment)
            elif self._contributes(step):
                _raise(self._filled, (barrier, phase), moment)
        match action:
            case Rendezvous() if action.arrives:
                _raise(self._filled, (action.name, step.phase), moment)
                if _is_meeting(action):
                    self._met[action.name, step.phase] = moment
            case Registers() if not action.increases:
                _raise(self._freed, action.cta, moment)
            case Commit():
                self._closed[step.strand, action.pipeline] = moment
            case _:
                pass


def _is_meeting(action: Action) -> TypeGuard[Rendezvous]:
    return isinstance(action, Rendezvous) and action.arrives and action.waits


def _raise(table: dict[_Key, int], key: _Key, moment: int) -> None:
    table[key] = max(table.get(key, 0), moment)
