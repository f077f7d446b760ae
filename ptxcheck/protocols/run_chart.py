"""One run as a chart: lanes of roles, of units that work asynchronously and of barriers, over the moments of the run.

A moment is one step of the longest chain of steps that must follow each other (`moments`); what stands at one moment
is independent of each other. A role is shown by one strand. Asynchronous work lasts from its issue to the first step
that knows it to be complete: a wait for a phase that it counts in, or for its group.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from ..ir import Instruction
from ..op import Op
from . import async_copy, bulk_copy, launch_control, tcgen05, wgmma
from .actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Fence,
    Init,
    Inval,
    Protocol,
    Registers,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
    WaitGroup,
)
from .barrier_names import BarrierNames, Place, barriers_of, is_about, is_of_warp, mbarriers_of
from .moments import moments, phases_of
from .outcome import Flaw, Problem, Step
from .replay import Held, replay
from .roles import RoleOf, alone, roles_of
from .wording import wording

MOST_EVENTS = 3000
"""Steps that are drawn; what comes after them is left out, and said to be."""
FOR_EVER = "for ever"

_TENSOR_CORE, _TMA = "tensor core", "TMA"
UNITS: Mapping[Op, str] = {
    **dict.fromkeys(launch_control.MEANINGS, "launch control"),
    **dict.fromkeys(async_copy.MEANINGS, "copies by threads"),
    **dict.fromkeys(bulk_copy.MEANINGS, _TMA),
    **dict.fromkeys(wgmma.MEANINGS, _TENSOR_CORE),
    **dict.fromkeys(tcgen05.MEANINGS, _TENSOR_CORE),
}
"""What does the asynchronous work of each instruction."""


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


_KINDS: Mapping[type[Action], EventKind] = {
    Init: EventKind.SETUP, Inval: EventKind.SETUP, Registers: EventKind.SETUP, Arrive: EventKind.ARRIVE,
    Expect: EventKind.ARRIVE, AsyncArrive: EventKind.ARRIVE, Wait: EventKind.WAIT, Transfer: EventKind.ISSUE,
    Commit: EventKind.GROUP, WaitGroup: EventKind.GROUP, Rendezvous: EventKind.MEET, Fence: EventKind.FENCE,
    Access: EventKind.ACCESS,
}  # fmt: skip


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


def run_chart(
    protocol: Protocol,
    schedule: Sequence[Step],
    names: BarrierNames,
    instructions: Sequence[Instruction],
    problem: Problem | None = None,
    bad: int | None = None,
) -> RunChart:
    """Return the chart of a schedule. `bad` is the number of the step that the problem is about."""
    return _Charting(protocol, tuple(schedule), names, instructions, problem, bad).chart()


@dataclass
class _Charting:
    protocol: Protocol
    schedule: tuple[Step, ...]
    names: BarrierNames
    instructions: Sequence[Instruction]
    problem: Problem | None
    bad: int | None
    _events: list[Event] = field(default_factory=list)
    _work: list[Work] = field(default_factory=list)
    _units: dict[tuple[int, str], int] = field(default_factory=dict)
    _left_out: int = 0
    _event_of: dict[tuple[int, int], int] = field(default_factory=dict)
    """Index of the event of an action (strand, index)."""
    _contributions: dict[tuple[object, int | None], dict[int, int]] = field(default_factory=dict)
    """For each barrier and phase, the last event of each role that counts in it."""

    def chart(self) -> RunChart:
        self._add_events()
        self._add_stuck()
        shown = sorted({event.moment for event in self._events})
        rank = {moment: number for number, moment in enumerate(shown)}
        self._add_work()
        barriers = tuple(self._barrier_lanes(shown))
        units = sorted(self._units)
        place = {number: units.index(unit) for unit, number in self._units.items()}
        return RunChart(
            roles=tuple(Lane(role.name, self.protocol.strands[strand].cta) for role, strand in self._cast),
            units=tuple(Lane(name, cta) for cta, name in units),
            barriers=barriers,
            events=tuple(
                replace(event, moment=rank[event.moment], text=_text(event)) for event in self._events
            ),
            work=tuple(
                replace(
                    w,
                    lane=place[w.lane],
                    start=rank[w.start],
                    end=None if w.end is None else _at_or_after(shown, w.end),
                )
                for w in self._work
            ),
            last=max(len(shown) - 1, 0),
            left_out=self._left_out,
        )

    # -- who is shown

    @cached_property
    def _cast(self) -> tuple[tuple[RoleOf, int], ...]:
        """Roles with the strand that stands for each: one that the problem is about, where there is one."""
        concerned = [] if self.problem is None else [self.problem.strand]
        concerned += [] if self.problem is None else [strand for strand, _ in self.problem.related]
        found: list[tuple[RoleOf, int]] = []
        for role in roles_of(self.protocol):
            mine = list(dict.fromkeys(strand for strand in concerned if strand in role.strands))
            if len(mine) > 1:
                found += [(alone(self.protocol, strand), strand) for strand in mine]
            else:
                found.append((role, (mine or role.strands)[0]))
        return tuple(found)

    @cached_property
    def _lane_of(self) -> dict[int, int]:
        return {strand: number for number, (_, strand) in enumerate(self._cast)}

    def _action(self, step: Step) -> Action:
        return self.protocol.strands[step.strand].actions[step.index]

    def _is_shown(self, action: Action) -> bool:
        if isinstance(action, Fence):
            return action.proxy or action.inits
        if isinstance(action, Access):
            return self.problem is not None and self._concerns(action, self.problem.barrier)
        return not is_of_warp(action)

    @staticmethod
    def _concerns(action: Action, place: Place) -> bool:
        return not isinstance(place, Barrier) and is_about(action, place)

    # -- events

    @cached_property
    def _moments(self) -> tuple[int, ...]:
        return moments(self.protocol, self.schedule, self._counts)

    def _counts(self, step: Step) -> bool:
        """Tell whether a step takes a moment of its own; parts of one instruction, and work in a row, share one."""
        action, strand = self._action(step), self.protocol.strands[step.strand]
        if step.completes or not self._is_shown(action):
            return False
        return step.index == 0 or not _continues(strand, step.index)

    @cached_property
    def _phases(self) -> list[dict[Barrier, int]]:
        return phases_of(self.protocol, self.schedule)

    @cached_property
    def _order(self) -> list[int]:
        """Numbers of the steps by moment."""
        return sorted(range(len(self.schedule)), key=lambda number: (self._moments[number], number))

    @cached_property
    def _lanes(self) -> dict[Barrier | tuple[object, ...], int]:
        """Indices of the barriers that are drawn, in the order of their names' places."""
        found: set[Barrier | tuple[object, ...]] = {
            barrier
            for strand in self.protocol.strands
            for action in strand.actions
            if not is_of_warp(action)
            for barrier in barriers_of(action)
        }
        mbarriers = sorted(barrier for barrier in found if isinstance(barrier, Barrier))
        others = sorted((barrier for barrier in found if not isinstance(barrier, Barrier)), key=repr)
        ordered: list[Barrier | tuple[object, ...]] = [*mbarriers, *others]
        return {barrier: number for number, barrier in enumerate(ordered)}

    def _add_events(self) -> None:
        for number in self._order:
            step, action = self.schedule[number], self._action(self.schedule[number])
            lane = self._lane_of.get(step.strand)
            if lane is None or step.completes or not self._is_shown(action):
                continue
            if len(self._events) >= MOST_EVENTS:
                self._left_out += 1
                continue
            event = self._event(number, step, action, lane)
            merged = self._merged(step, event)
            if merged is None:
                self._event_of[step.strand, step.index] = len(self._events)
                self._events.append(event)
            else:
                self._event_of[step.strand, step.index] = merged
            self._note_contribution(number, self._event_of[step.strand, step.index])

    def _event(self, number: int, step: Step, action: Action, lane: int) -> Event:
        return Event(
            order=number + 1,
            moment=self._moments[number],
            lane=lane,
            kind=_KINDS[type(action)],
            text=wording(action, step.phase, self.names),
            point=action.point,
            barriers=tuple(self._lanes[barrier] for barrier in barriers_of(action)),
            phase=step.phase,
            causes=tuple(self._causes(number, step, action)),
            is_bad=number + 1 == self.bad,
        )

    def _merged(self, step: Step, event: Event) -> int | None:
        """Add a step to the event of the one before that does the same; return its index."""
        before = self._event_of.get((step.strand, step.index - 1))
        if before is None or not _continues(self.protocol.strands[step.strand], step.index):
            return None
        known = self._events[before]
        if known.moment != event.moment or known.kind is not event.kind:
            return None
        self._events[before] = replace(
            known,
            count=known.count + (not self._is_one_instruction(step)),
            barriers=tuple(dict.fromkeys((*known.barriers, *event.barriers))),
            is_bad=known.is_bad or event.is_bad,
        )
        return before

    def _is_one_instruction(self, step: Step) -> bool:
        """Tell whether an action is part of the same instruction as the one before."""
        events = self.protocol.strands[step.strand].events
        return bool(events) and events[step.index] == events[step.index - 1]

    def _note_contribution(self, number: int, event: int) -> None:
        action = self._action(self.schedule[number])
        if isinstance(action, Wait | Init | Inval):
            return
        for barrier, phase in self._phases[number].items():
            self._contributions.setdefault((barrier, phase), {})[self._events[event].lane] = event
        if isinstance(action, Rendezvous) and not action.waits:
            key = (action.name, self.schedule[number].phase)
            self._contributions.setdefault(key, {})[self._events[event].lane] = event

    def _causes(self, number: int, step: Step, action: Action) -> Iterator[int]:
        """Yield the last event of each other role that counts in the phase that a wait sees."""
        keys: list[tuple[object, int | None]] = []
        if isinstance(action, Wait):
            keys += self._phases[number].items()
        elif isinstance(action, Rendezvous) and action.waits:
            keys.append((action.name, step.phase))
        for key in keys:
            for lane, event in self._contributions.get(key, {}).items():
                if lane != self._lane_of[step.strand] or isinstance(action, Wait):
                    yield event

    def _add_stuck(self) -> None:
        """Add what strands wait for when none can go on."""
        if self.problem is not None and self.problem.flaw is not Flaw.DEADLOCK:
            return
        done = {step.strand: step.index + 1 for step in self.schedule if not step.completes}
        moment = max(self._moments, default=0) + 1
        for strand, lane in self._lane_of.items():
            for action in self.protocol.strands[strand].actions[done.get(strand, 0) :][:1]:
                text = f"{wording(action, None, self.names)}: {FOR_EVER}"
                barriers = tuple(self._lanes[b] for b in barriers_of(action) if b in self._lanes)
                self._events.append(
                    Event(
                        len(self.schedule) + 1, moment, lane, _KINDS[type(action)], text, action.point, barriers,
                        is_stuck=True, is_bad=self.problem is None or self.problem.strand == strand,
                    )
                )  # fmt: skip

    # -- asynchronous work

    def _add_work(self) -> None:
        known: dict[tuple[int, int | None], int] = {}
        for (strand, index), event in sorted(self._event_of.items(), key=lambda item: (item[1], item[0])):
            action = self.protocol.strands[strand].actions[index]
            if not isinstance(action, Transfer):
                continue
            end = self._end_of(strand, index, action)
            if (event, end) in known:
                place = known[event, end]
                work = self._work[place]
                spans = tuple(dict.fromkeys((*work.spans, *action.writes, *action.reads)))
                self._work[place] = replace(work, count=work.count + 1, spans=spans)
                continue
            known[event, end] = len(self._work)
            unit = UNITS.get(self.instructions[action.point].operation.op, "asynchronous work")
            key = (self.protocol.strands[strand].cta, unit)
            lane = self._units.setdefault(key, len(self._units))
            start = self._events[event].moment
            spans = (*action.writes, *action.reads)
            self._work.append(Work(lane, event, start, end, 1, spans, bool(action.writes)))

    def _end_of(self, strand: int, index: int, action: Transfer) -> int | None:
        """Return the moment at which somebody first knows that work is done."""
        ends = [self._first_wait(barrier, phase) for barrier, phase in self._phases_of_work(strand, index)]
        if not action.completes and action.pipeline:
            ends += [self._group_end(strand, index, action.pipeline), self._commit_end(strand, index, action)]
        known = [end for end in ends if end is not None]
        return min(known, default=None)

    def _phases_of_work(self, strand: int, index: int) -> Iterator[tuple[Barrier, int]]:
        """Yield the phases that work of an action counts in; none when it has not been started."""
        place = self._completions.get((strand, index), self._places.get((strand, index)))
        yield from () if place is None else self._phases[place].items()

    @cached_property
    def _completions(self) -> dict[tuple[int, int], int]:
        """Number of the step that completes the work of an action, in schedules that have such steps."""
        return {(s.strand, s.index): number for number, s in enumerate(self.schedule) if s.completes}

    @cached_property
    def _waits(self) -> dict[Barrier, list[tuple[int, int]]]:
        """Phase and moment of each wait for an mbarrier."""
        found: dict[Barrier, list[tuple[int, int]]] = {}
        for number, step in enumerate(self.schedule):
            action = self._action(step)
            if isinstance(action, Wait):
                found.setdefault(action.barrier, []).append(
                    (self._phases[number][action.barrier], self._moments[number])
                )
        return found

    def _first_wait(self, barrier: Barrier, phase: int) -> int | None:
        """Return the moment of the first wait that sees a phase, or a later one, complete."""
        found = [moment for seen, moment in self._waits.get(barrier, ()) if seen >= phase]
        return min(found, default=None)

    def _group_end(self, strand: int, index: int, pipeline: str) -> int | None:
        """Return the moment of the first wait of the strand that covers the group of an action."""
        actions = self.protocol.strands[strand].actions
        closed, group = 0, None
        for at, action in enumerate(actions):
            if at == index:
                group = closed
            if isinstance(action, Commit) and action.pipeline == pipeline:
                closed += 1
            covers = isinstance(action, WaitGroup) and action.pipeline == pipeline
            if (
                covers
                and group is not None
                and isinstance(action, WaitGroup)
                and closed - action.pending > group
            ):
                return self._moment_of.get((strand, at))
        return None

    def _commit_end(self, strand: int, index: int, work: Transfer) -> int | None:
        """Return the moment of the first wait for an arrival that comes when the work is done."""
        actions = self.protocol.strands[strand].actions
        ends = [
            self._first_wait(*phase)
            for at, action in enumerate(actions)
            if at > index and isinstance(action, AsyncArrive) and action.pipeline == work.pipeline
            for phase in self._phases_of_work(strand, at)
        ]
        return min((end for end in ends if end is not None), default=None)

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {(s.strand, s.index): number for number, s in enumerate(self.schedule) if not s.completes}

    @cached_property
    def _moment_of(self) -> dict[tuple[int, int], int]:
        return {key: self._moments[place] for key, place in self._places.items()}

    # -- barriers

    def _barrier_lanes(self, shown: Sequence[int]) -> Iterator[BarrierLane]:
        states: dict[Barrier | tuple[object, ...], list[BarrierState]] = {
            barrier: [] for barrier in self._lanes
        }
        steps = [self.schedule[number] for number in self._order]
        gathered: dict[object, BarrierState] = {}
        for number, (step, held) in zip(self._order, replay(self.protocol, steps), strict=True):
            moment = _at_or_after(shown, self._moments[number])
            if moment is None:
                continue
            action = self._action(step)
            for barrier in mbarriers_of(action):
                _add(states[barrier], _state_of(moment, held.get(barrier)))
            if isinstance(action, Rendezvous) and action.name in states:
                gathered[action.name] = _gathered(gathered.get(action.name), action, moment)
                _add(states[action.name], gathered[action.name])
        for name, found in states.items():
            is_mbarrier = isinstance(name, Barrier)
            yield BarrierLane(self.names.of(name), _cta_of(name), is_mbarrier, tuple(found))


def _text(event: Event) -> str:
    if event.count == 1:
        return event.text
    more = f"and {event.count - 1} more" if event.kind is EventKind.SETUP else f"(×{event.count})"
    return f"{event.text} {more}"


def _cta_of(barrier: Barrier | tuple[object, ...]) -> int:
    if isinstance(barrier, Barrier):
        return barrier.cta
    return barrier[1] if len(barrier) > 1 and isinstance(barrier[1], int) else 0


def _continues(strand: Strand, index: int) -> bool:
    """Tell whether an action is part of the same instruction as the one before, or the same work in a row."""
    if index == 0:
        return False
    action, before = strand.actions[index], strand.actions[index - 1]
    if type(action) is not type(before):
        return False
    if strand.events and strand.events[index] == strand.events[index - 1]:
        return True
    if isinstance(action, Transfer) and isinstance(before, Transfer):
        return bool(action.pipeline) and action.pipeline == before.pipeline
    return isinstance(action, Init)


def _at_or_after(shown: Sequence[int], moment: int) -> int | None:
    """Return the index of the first moment that is drawn and not before a moment."""
    place = bisect_left(shown, moment)
    return place if place < len(shown) else None


def _state_of(moment: int, held: Held | None) -> BarrierState:
    if held is None:
        return BarrierState(moment, None, 0, 0)
    has_bytes = held.expected != 0 or held.completed != 0
    return BarrierState(
        moment, held.phase, max(held.pending, 0), held.count,
        str(held.expected) if has_bytes else "", str(held.completed) if has_bytes else "",
    )  # fmt: skip


def _gathered(before: BarrierState | None, action: Rendezvous, moment: int) -> BarrierState:
    """Return a counted barrier after an arrival."""
    pending = action.needed if before is None else before.pending
    phase = 0 if before is None or before.phase is None else before.phase
    if action.arrives:
        pending -= action.threads
    if pending <= 0:
        return BarrierState(moment, phase + 1, action.needed, action.needed)
    return BarrierState(moment, phase, pending, action.needed)


def _add(states: list[BarrierState], state: BarrierState) -> None:
    """Add a state; of one moment the last one stays, and what does not change is left out."""
    if states and replace(states[-1], moment=state.moment) == state:
        return
    if states and states[-1].moment == state.moment:
        states.pop()
    states.append(state)
