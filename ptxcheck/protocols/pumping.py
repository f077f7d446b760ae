"""Two protocols of one kernel, the larger one with a period of rounds more: does each still larger one keep its contract?

Every larger protocol has the period once more than the one before it (`periods`). Clocks depend only on what happened
before, and in the rounds looked at on no more than a window of rounds. So when the clocks of the larger run are those of
the smaller one, moved by what the period adds, from a window before the end comes into sight on, the same holds for all
larger ones; and what the checks of a schedule ask of clocks, phases and bytes has the same answers. The argument is
that of periodic behaviour of max-plus systems (Baccelli, Cohen, Olsder, Quadrat: Synchronization and Linearity).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .actions import Action, Arrive, AsyncArrive, Barrier, Commit, Expect, Protocol, Rendezvous, Transfer, Wait, WaitGroup
from .clock import READS, Clock, Components
from .outcome import Outcome, Step
from .periods import Period, SizedRun
from .simulate import simulate

_NEVER = 1 << 40


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


def repeats(smaller: SizedRun, larger: SizedRun, period: Period, block_of: Mapping[int, int]) -> bool:
    """Tell whether every run with the period put in once more, any number of times, is as good as the larger one.

    `block_of` gives the header of the loop that makes more rounds, for each point in one.
    """
    if len(smaller.protocol.strands) != len(larger.protocol.strands):
        return False
    places: list[_Places] = []
    for strand in range(len(smaller.protocol.strands)):
        found = _places(smaller, larger, period, block_of, strand)
        if found is None:
            return False
        places.append(found)
    return _Comparison(smaller.protocol, larger.protocol, places).holds()


def _places(
    smaller: SizedRun, larger: SizedRun, period: Period, header_of: Mapping[int, int], strand: int
) -> _Places | None:
    """Return where the rounds of a strand are, None when the larger run does not just make some more."""
    one, other = smaller.protocol.strands[strand], larger.protocol.strands[strand]
    if (one.cta, one.warp, one.lanes) != (other.cta, other.warp, other.lanes):
        return None
    rounds = [_round_of(smaller, strand, index, header_of) for index in range(len(one.actions))]
    loops = {each[0] for each in rounds if each is not None}
    if not loops:
        same = _bare(one.actions) == _bare(other.actions)
        return _Places(_NEVER, _NEVER, _NEVER, 0) if same else None
    if len(loops) > 1:
        return None
    (header,) = loops
    start, more = period.starts[one.cta, header], period.rounds[one.cta, header]
    numbers = [-1 if each is None else each[1] for each in rounds]
    first = next(index for index, number in enumerate(numbers) if number >= 0)
    end = next((index for index, number in enumerate(numbers) if number >= start), None)
    window_round = max(start - more, (start + 1) // 2)
    window = next((index for index, number in enumerate(numbers) if number >= window_round), None)
    if end is None or window is None or window_round < 1 or window >= end:
        return None
    theirs = [_round_of(larger, strand, index, header_of) for index in range(len(other.actions))]
    added = sum(each is not None and start <= each[1] < start + more for each in theirs)
    if len(other.actions) != len(one.actions) + added or not added:
        return None
    if _bare(one.actions[:end]) != _bare(other.actions[:end]):
        return None
    if _bare(one.actions[window:]) != _bare(other.actions[window + added :]):
        return None
    return _Places(first, window, end, added)


def _round_of(run: SizedRun, strand: int, index: int, header_of: Mapping[int, int]) -> tuple[int, int] | None:
    """Return the loop that makes more rounds around an action, and its round."""
    found = run.protocol.strands[strand]
    header = header_of.get(found.actions[index].point)
    if header is None:
        return None
    return header, run.observations[found.cta].rounds[found.events[index]].get(header, 0)


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
        elif isinstance(action, Rendezvous) and _is_single(action):
            found.append(replace(action, name=action.name[:-1]))
        else:
            found.append(action)
    return found


def _is_single(meeting: Rendezvous) -> bool:
    """Tell whether the name of a meeting holds the number of its event, as those of lanes of a warp do."""
    return meeting.name[0] == "warp"


class _Comparison:
    def __init__(self, smaller: Protocol, larger: Protocol, places: Sequence[_Places]) -> None:
        self._protocols = smaller, larger
        self._places = places

    def holds(self) -> bool:
        smaller, larger = self._protocols
        names = Components(smaller).names
        if names != Components(larger).names or not self._meet_alike():
            return False
        clocks: tuple[list[Clock], list[Clock]] = [], []
        outcomes = simulate(smaller, clocks[0]), simulate(larger, clocks[1])
        if any(outcome.problems for outcome in outcomes):
            return False
        one, other = outcomes
        if {(e.barrier, str(e.expected), str(e.completed)) for e in one.equations} != {
            (e.barrier, str(e.expected), str(e.completed)) for e in other.equations
        }:
            return False
        reach = _Reach(smaller, self._places, one)
        if not reach.is_short:
            return False
        shift = self._shift(names, reach, one, other)
        return shift is not None and self._clocks_move(shift, one, other, *clocks)

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

    def _shift(
        self, names: Sequence[tuple[object, ...]], reach: _Reach, one: Outcome, other: Outcome
    ) -> tuple[Counts, Counts, Counts] | None:
        """Return for each component what it counts before the loops, before the window, and what a period adds."""
        size = len(self._places) + len(names)
        loop, window, added = (np.zeros(size, dtype=np.int64) for _ in range(3))
        for strand, place in enumerate(self._places):
            loop[strand], window[strand], added[strand] = place.loop, place.window, place.added
        phases = _last_phases(self._protocols[0], one), _last_phases(self._protocols[1], other)
        for number, (kind, *rest) in enumerate(names, start=len(self._places)):
            if kind == "bytes":
                cta, offset = rest
                assert isinstance(cta, int)
                assert isinstance(offset, int)
                barrier = Barrier(cta, offset)
                loop[number], window[number] = reach.first_phases(barrier)
                added[number] = phases[1].get(barrier, -1) - phases[0].get(barrier, -1)
            else:
                pipeline, strand = rest
                assert isinstance(strand, int)
                place = self._places[strand]
                issued = [_issued(p, strand, str(pipeline).removesuffix(READS)) for p in self._protocols]
                loop[number] = np.searchsorted(issued[0], place.loop)
                window[number] = np.searchsorted(issued[0], place.window)
                added[number] = len(issued[1]) - len(issued[0])
        return loop, window, added

    def _clocks_move(
        self,
        shift: tuple[Counts, Counts, Counts],
        one: Outcome,
        other: Outcome,
        before: Sequence[Clock],
        after: Sequence[Clock],
    ) -> bool:
        """Tell whether from the window on all clocks are the same but for what the period adds."""
        loop, window, added = shift
        theirs = {(step.strand, step.index): clock for step, clock in zip(other.steps, after, strict=True)}
        phases = {(step.strand, step.index): step.phase for step in other.steps}
        grown: dict[object, set[int]] = {}
        for step, clock in zip(one.steps, before, strict=True):
            place = self._places[step.strand]
            if step.index < place.window and place.window != _NEVER:
                continue
            key = step.strand, place.moved(step.index)
            wanted = np.where(clock > loop, clock + added, clock)
            if key not in theirs or not np.array_equal(theirs[key], wanted):
                return False
            if step.index >= place.end and bool(((clock > loop) & (clock <= window)).any()):
                return False
            phase = phases[key]
            if (phase is None) != (step.phase is None):
                return False
            if step.phase is not None and phase is not None:
                action = self._protocols[0].strands[step.strand].actions[step.index]
                grown.setdefault(_object_of(action), set()).add(phase - step.phase)
        return all(len(numbers) == 1 for numbers in grown.values())


Counts = npt.NDArray[np.int64]


class _Reach:
    """How far back the actions of a run reach: which phases the actions of loops take part in."""

    def __init__(self, protocol: Protocol, places: Sequence[_Places], outcome: Outcome) -> None:
        self._protocol = protocol
        self._places = places
        self._parts: dict[object, dict[int, list[Step]]] = {}
        for step in outcome.steps:
            action = protocol.strands[step.strand].actions[step.index]
            if step.phase is not None and _takes_part(action):
                self._parts.setdefault(_object_of(action), {}).setdefault(step.phase, []).append(step)
        self._outcome = outcome

    @property
    def is_short(self) -> bool:
        """Tell whether from the end on nothing reaches back behind the window."""
        for step in self._outcome.steps:
            place = self._places[step.strand]
            if step.index < place.end:
                continue
            action = self._protocol.strands[step.strand].actions[step.index]
            if isinstance(action, WaitGroup) and not self._waits_inside(step, action):
                return False
            if step.phase is None or step.phase < 0:
                continue
            phases = self._parts.get(_object_of(action), {})
            for phase in (step.phase - 1, step.phase):
                if any(each.index < self._places[each.strand].window for each in phases.get(phase, ())):
                    return False
        return True

    def _waits_inside(self, step: Step, wait: WaitGroup) -> bool:
        place = self._places[step.strand]
        commits = [
            index
            for index, action in enumerate(self._protocol.strands[step.strand].actions[: step.index])
            if isinstance(action, Commit) and action.pipeline == wait.pipeline
        ]
        inside = sum(index >= place.loop for index in commits)
        return not inside or sum(index >= place.window for index in commits) > wait.pending

    def first_phases(self, barrier: Barrier) -> tuple[int, int]:
        """Return the first phase that actions of loops take part in, and the first that those of the window do."""
        loop = window = _NEVER
        for phase, steps in self._parts.get(barrier, {}).items():
            for step in steps:
                place = self._places[step.strand]
                if step.index >= place.loop:
                    loop = min(loop, phase)
                if step.index >= place.window:
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


def _last_phases(protocol: Protocol, outcome: Outcome) -> Mapping[Barrier, int]:
    found: dict[Barrier, int] = {}
    for step in outcome.steps:
        barrier = _object_of(protocol.strands[step.strand].actions[step.index])
        if step.phase is not None and isinstance(barrier, Barrier):
            found[barrier] = max(found.get(barrier, -1), step.phase)
    return found


def _issued(protocol: Protocol, strand: int, pipeline: str) -> list[int]:
    """Return the actions of a strand that start work in a pipeline."""
    return [
        index
        for index, action in enumerate(protocol.strands[strand].actions)
        if isinstance(action, Transfer) and action.pipeline == pipeline
    ]

