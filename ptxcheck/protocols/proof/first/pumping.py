"""Two protocols of one kernel, the larger one with a period of rounds more: is each still larger one as good?

Every larger protocol has the period once more than the one before it (`periods`). Clocks depend only on what happened
before, and from the end on on no more than a window of rounds. So when the clocks of the larger run are those of the
smaller one, moved by what the period adds, from the window on, the same holds for all larger ones; and what the checks
of a schedule ask of clocks, phases and bytes has the same answers. The argument is that of periodic behaviour of
max-plus systems (Baccelli, Cohen, Olsder, Quadrat: Synchronization and Linearity, 1992).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Init,
    Protocol,
    Rendezvous,
    TensorAccess,
    Transfer,
    Wait,
    WaitGroup,
)
from ...model.outcome import Outcome, Step
from ...model.sync_objects import WarpBarrier
from ...order.clock import READS, Clock, Components
from ..simulate import simulate
from .periods import Period, SizedRun

_NEVER = 1 << 40
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the rounds of a strand's loop are among its actions, in the smaller run; `_NEVER` without such a loop."""

    loop: int
    """First action in the loop."""
    window: int
    """First action of the window."""
    end: int
    """First action of the round in which the end comes into sight: the period is put in before it."""
    added: int
    """Actions of the period."""

    def moved(self, index: int) -> int:
        """Return where an action of the smaller run is in the larger one."""
        return index + self.added if index >= self.window else index


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule of a protocol: what it shows, the clock after each step, and the phase of each step.

    Phases are counted on when an mbarrier is initialised again.
    """

    outcome: Outcome
    clocks: npt.NDArray[np.int32]
    """By step, sense and component."""
    phases: Sequence[int | None]
    place: Mapping[tuple[int, int], int]
    """Number of the step of each action, by strand and index."""
    actions: Sequence[Sequence[Action]]
    """Actions of each strand without numbers of events."""


def schedule_of(protocol: Protocol) -> Schedule:
    """Return the schedule that is simulated."""
    clocks: list[Clock] = []
    outcome = simulate(protocol, clocks)
    first: dict[object, int] = {}
    last: dict[object, int] = {}
    phases: list[int | None] = []
    for step in outcome.steps:
        action = protocol.strands[step.strand].actions[step.index]
        barrier = _object_of(action)
        if isinstance(action, Init):
            first[action.barrier] = last.get(action.barrier, -1) + 1
        phase = None if step.phase is None else step.phase + first.get(barrier, 0)
        if phase is not None:
            last[barrier] = max(last.get(barrier, -1), phase)
        phases.append(phase)
    place = {(step.strand, step.index): number for number, step in enumerate(outcome.steps)}
    actions = [_bare(strand.actions) for strand in protocol.strands]
    return Schedule(outcome, np.array(clocks), phases, place, actions)


def repeats(
    smaller: tuple[SizedRun, Schedule],
    larger: tuple[SizedRun, Schedule],
    period: Period,
    header_of: Mapping[int, int],
) -> bool:
    """Tell whether every run with the period put in once more, any number of times, is as good as the larger one.

    `header_of` gives the header of the loop that makes more rounds, for each point in one.
    """
    one, other = smaller[0], larger[0]
    if len(one.protocol.strands) != len(other.protocol.strands):
        return False
    strands = range(len(one.protocol.strands))
    rounds = [[_rounds_of(run, strand, header_of) for strand in strands] for run in (one, other)]
    reach: _Reach | None = None
    for back in range(1, max(period.starts.values())):
        places: list[_Places] = []
        for strand in strands:
            found = _places(one, other, period, strand, rounds[0][strand], rounds[1][strand], back)
            if found is None:
                return False
            places.append(found)
        reach = reach or _Reach(one.protocol, places, smaller[1])
        comparison = _Comparison(one.protocol, other.protocol, places, smaller[1], larger[1], reach)
        if comparison.reaches_back_no_further:
            return comparison.holds()
    return False


_Rounds = Sequence[tuple[int, int] | None]
"""For each action of a strand, the loop that makes more rounds around it, and its round."""


def _places(
    smaller: SizedRun,
    larger: SizedRun,
    period: Period,
    strand: int,
    ours: _Rounds,
    theirs: _Rounds,
    back: int,
) -> _Places | None:
    """Return where the rounds of a strand are, None when the larger run does not just make some more.

    `back` is the number of rounds before the end that the window has, where the loop has made as many.
    """
    one, other = smaller.protocol.strands[strand], larger.protocol.strands[strand]
    if (one.cta, one.warp, one.lanes) != (other.cta, other.warp, other.lanes):
        return None
    loops = {each[0] for each in ours if each is not None}
    if not loops:
        same = len(one.actions) == len(other.actions)
        return _Places(_NEVER, _NEVER, _NEVER, 0) if same else None
    if len(loops) > 1:
        return None
    (header,) = loops
    start, more = period.starts[one.cta, header], period.rounds[one.cta, header]
    numbers = [-1 if each is None else each[1] for each in ours]
    first = next(index for index, number in enumerate(numbers) if number >= 0)
    behind = max(index for index, number in enumerate(numbers) if number >= 0) + 1
    end = next((index for index, number in enumerate(numbers) if number >= start), behind)
    round_of_window = max(start - back, 1)
    window = next((index for index, number in enumerate(numbers) if number >= round_of_window), None)
    if window is None or window >= end:
        return None
    added = sum(each is not None and start <= each[1] < start + more for each in theirs)
    if len(other.actions) != len(one.actions) + added or not added:
        return None
    return _Places(first, window, end, added)


def _rounds_of(run: SizedRun, strand: int, header_of: Mapping[int, int]) -> _Rounds:
    found = run.protocol.strands[strand]
    rounds = run.observations[found.cta].rounds
    return [
        None if header is None else (header, rounds[event].get(header, 0))
        for action, event in zip(found.actions, found.events, strict=True)
        for header in (header_of.get(action.point),)
    ]


def _bare(actions: Sequence[Action]) -> list[Action]:
    """Return actions without numbers of events: in tokens, how far away the arrival is takes their place."""
    arrivals: dict[int, int] = {}
    found: list[Action] = []
    for index, action in enumerate(actions):
        if isinstance(action, Arrive) and action.token >= 0:
            arrivals[action.token] = index
            found.append(replace(action, token=0))
        elif isinstance(action, Wait) and action.token >= 0:
            found.append(replace(action, token=index - arrivals.get(action.token, -_NEVER)))
        elif isinstance(action, Rendezvous) and isinstance(action.name, WarpBarrier):
            found.append(replace(action, name=replace(action.name, event=0)))
        else:
            found.append(action)
    return found


def _is_single(meeting: Rendezvous) -> bool:
    """Tell whether the name of a meeting holds the number of its event, as those of lanes of a warp do."""
    return isinstance(meeting.name, WarpBarrier)


class _Comparison:
    def __init__(
        self,
        smaller: Protocol,
        larger: Protocol,
        places: Sequence[_Places],
        before: Schedule,
        after: Schedule,
        reach: _Reach,
    ) -> None:
        self._protocols = smaller, larger
        self._places = places
        self._schedules = before, after
        self._names = Components(smaller).names
        self._reach = reach
        self._late = [
            number
            for number, step in enumerate(before.outcome.steps)
            if step.index >= places[step.strand].end
        ]

    @property
    def reaches_back_no_further(self) -> bool:
        """Tell whether from the end on nothing depends on rounds before the window."""
        if any(self._places[strand].window > index for strand, index in self._reach.oldest.items()):
            return False
        if not self._late:
            return True
        loop, window, _ = self._shift
        known = self._schedules[0].clocks[self._late]
        return not bool(((known > loop) & (known <= window)).any())

    def holds(self) -> bool:
        if self._names != Components(self._protocols[1]).names or not self._act_alike():
            return False
        one, other = (schedule.outcome for schedule in self._schedules)
        if one.problems or other.problems or _equations(one) != _equations(other):
            return False
        return self._clocks_move()

    def _act_alike(self) -> bool:
        """Tell whether all strands do the same, but for what the period adds."""
        before, after = (schedule.actions for schedule in self._schedules)
        return self._meet_alike() and all(
            one[: place.end] == other[: place.end]
            and one[place.window :] == other[place.window + place.added :]
            for place, one, other in zip(self._places, before, after, strict=True)
        )

    def _meet_alike(self) -> bool:
        """Tell whether strands that meet once meet in the larger protocol too."""
        pairs: dict[object, object] = {}
        smaller, larger = self._protocols
        for place, one, other in zip(self._places, smaller.strands, larger.strands, strict=True):
            for index, action in enumerate(one.actions):
                theirs = other.actions[place.moved(index)]
                if isinstance(action, Rendezvous) and isinstance(theirs, Rendezvous) and _is_single(action):
                    if place.window != _NEVER and index < place.window:
                        continue
                    if pairs.setdefault(action.name, theirs.name) != theirs.name:
                        return False
        return len(set(pairs.values())) == len(pairs)

    @cached_property
    def _shift(self) -> tuple[Counts, Counts, Counts]:
        """Return for each component what it counts before the loops, before the window, and what a period adds."""
        names = self._names
        size = len(self._places) + len(names)
        loop, window, added = (np.zeros(size, dtype=np.int64) for _ in range(3))
        for strand, place in enumerate(self._places):
            loop[strand], window[strand], added[strand] = place.loop, place.window, place.added
        phases = [_last_phases(p, each) for p, each in zip(self._protocols, self._schedules, strict=True)]
        for number, name in enumerate(names, start=len(self._places)):
            if isinstance(name, Barrier):
                loop[number], window[number] = self._reach.first_phases(name, self._places)
                added[number] = phases[1].get(name, -1) - phases[0].get(name, -1)
            else:
                pipeline, owner = name
                place = self._places[owner]
                issued = [_issued(p, owner, pipeline.removesuffix(READS)) for p in self._protocols]
                loop[number] = np.searchsorted(issued[0], place.loop)
                window[number] = np.searchsorted(issued[0], place.window)
                added[number] = len(issued[1]) - len(issued[0])
        return loop, window, added

    def _clocks_move(self) -> bool:
        """Tell whether from the window on all clocks and phases are the same but for what the period adds."""
        before, after = self._schedules
        loop, _, added = self._shift
        ours: list[int] = []
        theirs: list[int] = []
        for number, step in enumerate(before.outcome.steps):
            place = self._places[step.strand]
            if step.index < place.window and place.window != _NEVER:
                continue
            found = after.place.get((step.strand, place.moved(step.index)))
            if found is None:
                return False
            ours.append(number)
            theirs.append(found)
        if not ours:
            return True
        known = before.clocks[ours]
        return np.array_equal(after.clocks[theirs], np.where(known > loop, known + added, known)) and (
            self._phases_move(ours, theirs)
        )

    def _phases_move(self, ours: Sequence[int], theirs: Sequence[int]) -> bool:
        """Tell whether steps take part in phases as far apart, for each barrier, in both schedules."""
        before, after = self._schedules
        grown: dict[object, set[int]] = {}
        for number, other in zip(ours, theirs, strict=True):
            one, two = before.phases[number], after.phases[other]
            if (one is None) != (two is None):
                return False
            if one is not None and two is not None:
                step = before.outcome.steps[number]
                action = self._protocols[0].strands[step.strand].actions[step.index]
                if not (isinstance(action, Rendezvous) and _is_single(action)):
                    grown.setdefault(_object_of(action), set()).add(two - one)
        return all(len(numbers) == 1 for numbers in grown.values())


def _equations(outcome: Outcome) -> set[tuple[Barrier, str, str]]:
    return {(each.barrier, str(each.expected), str(each.completed)) for each in outcome.equations}


class _Reach:
    """How far back the actions of a run reach: which phases the actions of loops take part in."""

    def __init__(self, protocol: Protocol, places: Sequence[_Places], schedule: Schedule) -> None:
        self._protocol = protocol
        self._places = places
        self._parts: dict[object, dict[int, list[Step]]] = {}
        for step, phase in zip(schedule.outcome.steps, schedule.phases, strict=True):
            action = protocol.strands[step.strand].actions[step.index]
            if phase is not None and _takes_part(action):
                self._parts.setdefault(_object_of(action), {}).setdefault(phase, []).append(step)
        self._schedule = schedule

    @cached_property
    def oldest(self) -> Mapping[int, int]:
        """Return the first action in a loop of each strand that anything from the end on depends on directly."""
        found: dict[int, int] = {}
        for step, phase in zip(self._schedule.outcome.steps, self._schedule.phases, strict=True):
            if step.index < self._places[step.strand].end:
                continue
            action = self._protocol.strands[step.strand].actions[step.index]
            needed = [(step.strand, self._group(step, action))] if isinstance(action, WaitGroup) else []
            if phase is not None and phase >= 0:
                phases = self._parts.get(_object_of(action), {})
                needed += [
                    (each.strand, each.index) for seen in (phase - 1, phase) for each in phases.get(seen, ())
                ]
            for strand, index in needed:
                if index >= self._places[strand].loop:
                    found[strand] = min(found.get(strand, _NEVER), index)
        return found

    def _group(self, step: Step, wait: WaitGroup) -> int:
        """Return the action that closes the newest group which a wait covers; `_NEVER` when no round closes one."""
        place = self._places[step.strand]
        commits = [
            index
            for index, action in enumerate(self._protocol.strands[step.strand].actions[: step.index])
            if isinstance(action, Commit) and action.pipeline == wait.pipeline
        ]
        if not any(index >= place.loop for index in commits):
            return _NEVER
        return commits[-wait.pending - 1] if len(commits) > wait.pending else place.loop

    def first_phases(self, barrier: Barrier, places: Sequence[_Places]) -> tuple[int, int]:
        """Return the first phase that actions of loops take part in, and the first that those of the window do."""
        loop = window = _NEVER
        for phase, steps in self._parts.get(barrier, {}).items():
            for step in steps:
                if step.index >= places[step.strand].loop:
                    loop = min(loop, phase)
                if step.index >= places[step.strand].window:
                    window = min(window, phase)
        return loop, window


def _takes_part(action: Action) -> bool:
    return isinstance(action, Arrive | Expect | Transfer | AsyncArrive | Rendezvous)


def _object_of(action: Action) -> object:
    """Return the barrier whose phase a step of an action names."""
    match action:
        case Transfer(completes=completes):
            return completes[-1][0] if completes else None
        case Rendezvous(name=name):
            return name
        case Arrive() | Expect() | AsyncArrive() | Wait():
            return action.barrier
        case _:
            return None


def _last_phases(protocol: Protocol, schedule: Schedule) -> Mapping[Barrier, int]:
    found: dict[Barrier, int] = {}
    for step, phase in zip(schedule.outcome.steps, schedule.phases, strict=True):
        barrier = _object_of(protocol.strands[step.strand].actions[step.index])
        if phase is not None and isinstance(barrier, Barrier):
            found[barrier] = max(found.get(barrier, -1), phase)
    return found


def _issued(protocol: Protocol, strand: int, pipeline: str) -> list[int]:
    """Return the actions of a strand that start work in a pipeline."""
    return [
        index
        for index, action in enumerate(protocol.strands[strand].actions)
        if isinstance(action, Transfer | TensorAccess) and action.pipeline == pipeline
    ]
