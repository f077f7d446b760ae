"""Makes the chart of a run: see `run_chart`."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property

from ..ir import Instruction
from ..protocols.model.actions import (
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
    Strand,
    TensorAccess,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..protocols.model.outcome import Flaw, Problem, Step
from ..protocols.model.sync_objects import ClusterBarrier, CountedBarrier, HaltPoint, NamedBarrier
from .barrier_names import (
    BarrierNames,
    Place,
    barriers_of,
    is_about,
    is_of_warp,
)
from .barrier_states import barrier_lanes
from .moments import TimedRun, timed
from .roles import RoleOf, alone, roles_of
from .run_chart import (
    Event,
    EventKind,
    Lane,
    RunChart,
)
from .wording import wording
from .work_bars import work_bars

MOST_EVENTS = 3000
"""Steps that are drawn; what comes after them is left out, and said to be."""
FOR_EVER = "for ever"

_KINDS: Mapping[type[Action], EventKind] = {
    Init: EventKind.SETUP, Inval: EventKind.SETUP, Registers: EventKind.SETUP, Arrive: EventKind.ARRIVE,
    Expect: EventKind.ARRIVE, AsyncArrive: EventKind.ARRIVE, Wait: EventKind.WAIT, Transfer: EventKind.ISSUE,
    Commit: EventKind.GROUP, WaitGroup: EventKind.GROUP, Rendezvous: EventKind.MEET, Fence: EventKind.FENCE,
    Access: EventKind.ACCESS, TensorAccess: EventKind.ACCESS, TensorWait: EventKind.GROUP,
}  # fmt: skip


def run_chart(
    protocol: Protocol,
    schedule: Sequence[Step],
    names: BarrierNames,
    instructions: Sequence[Instruction],
    problem: Problem | None = None,
    bad: int | None = None,
) -> RunChart:
    """Return the chart of a schedule. `bad` is the number of the step that the problem is about."""
    numbered = tuple(_passed(protocol, schedule))
    steps = tuple(step for _, step in numbered)
    numbers = tuple(number for number, _ in numbered)
    return _Charting(protocol, steps, numbers, names, instructions, problem, bad).chart()


def _passed(protocol: Protocol, schedule: Sequence[Step]) -> Iterator[tuple[int, Step]]:
    """Yield steps with their numbers, those at meetings only when they pass.

    Schedules that were searched for tell the arrival of a strand and its passing apart, and work from its completion.
    """

    def meets(step: Step) -> bool:
        action = protocol.strands[step.strand].actions[step.index]
        return isinstance(action, Rendezvous) and action.arrives and action.waits

    steps = Counter((step.strand, step.index) for step in schedule if not step.completes and meets(step))
    searched = any(step.completes for step in schedule) or any(count > 1 for count in steps.values())
    arrived: set[tuple[int, int]] = set()
    for number, step in enumerate(schedule, 1):
        at = step.strand, step.index
        if searched and meets(step) and at not in arrived:
            arrived.add(at)
        else:
            yield number, step


@dataclass
class _Charting:
    protocol: Protocol
    schedule: tuple[Step, ...]
    numbers: tuple[int, ...]
    """Number of each step in the whole run."""
    names: BarrierNames
    instructions: Sequence[Instruction]
    problem: Problem | None
    bad: int | None
    _events: list[Event] = field(default_factory=list)
    _left_out: int = 0
    _event_of: dict[tuple[int, int], int] = field(default_factory=dict)
    """Index of the event of an action (strand, index)."""
    _contributions: dict[tuple[object, int | None], dict[int, int]] = field(default_factory=dict)
    """For each barrier and phase, the last event of each role that counts in it."""

    def chart(self) -> RunChart:
        self._add_events()
        self._add_stuck()
        drawn = sorted({event.moment for event in self._events})
        units, work = work_bars(self._run, self._events, self._event_of, self.instructions)

        def shown(moment: int) -> int | None:
            place = bisect_left(drawn, moment)
            return place if place < len(drawn) else None

        stuck = self._next.values() if any(event.is_stuck for event in self._events) else ()
        last = max(len(drawn) - 1, 0)
        return RunChart(
            roles=tuple(Lane(role.name, self.protocol.strands[strand].cta) for role, strand in self._cast),
            units=units,
            barriers=tuple(barrier_lanes(self._run, self._lanes, self.names, shown, stuck, last)),
            events=tuple(
                replace(event, moment=shown(event.moment) or 0, text=_text(event)) for event in self._events
            ),
            work=tuple(
                replace(bar, start=shown(bar.start) or 0, end=None if bar.end is None else shown(bar.end))
                for bar in work
            ),
            last=last,
            left_out=self._left_out,
        )

    # -- who is shown

    @cached_property
    def _cast(self) -> tuple[tuple[RoleOf, int], ...]:
        """Roles, each with the strand that stands for it: one that the problem is about, or else that is stuck."""
        concerned = [] if self.problem is None else [self.problem.strand]
        concerned += [] if self.problem is None else [strand for strand, _ in self.problem.related]
        found: list[tuple[RoleOf, int]] = []
        for role in roles_of(self.protocol):
            mine = list(dict.fromkeys(strand for strand in concerned if strand in role.strands))
            if len(mine) > 1:
                found += [(alone(self.protocol, strand), strand) for strand in mine]
            else:
                stuck = [strand for strand in role.strands if strand in self._next]
                found.append((role, (mine or stuck or role.strands)[0]))
        return tuple(found)

    @cached_property
    def _lane_of(self) -> dict[int, int]:
        return {strand: number for number, (_, strand) in enumerate(self._cast)}

    def _action(self, step: Step) -> Action:
        return self.protocol.strands[step.strand].actions[step.index]

    def _is_shown(self, action: Action) -> bool:
        if isinstance(action, Fence):
            return action.proxy or action.inits
        if isinstance(action, Access | TensorAccess | TensorWait):
            return self.problem is not None and self._concerns(action, self.problem.barrier)
        return not is_of_warp(action)

    @staticmethod
    def _concerns(action: Action, place: Place) -> bool:
        return not isinstance(place, Barrier) and is_about(action, place)

    # -- events

    @cached_property
    def _run(self) -> TimedRun:
        return timed(self.protocol, self.schedule, self._counts)

    def _counts(self, step: Step) -> bool:
        """Tell whether a step takes a moment of its own; parts of one instruction, and work in a row, share one."""
        action, strand = self._action(step), self.protocol.strands[step.strand]
        if step.completes or not self._is_shown(action):
            return False
        return step.index == 0 or not _continues(strand, step.index)

    @cached_property
    def _lanes(self) -> dict[Barrier | CountedBarrier, int]:
        """Indices of the barriers that are drawn, in the order of their names' places."""
        found: set[Barrier | CountedBarrier] = {
            barrier
            for strand in self.protocol.strands
            for action in strand.actions
            if not is_of_warp(action)
            for barrier in barriers_of(action)
        }
        mbarriers = sorted(barrier for barrier in found if isinstance(barrier, Barrier))
        others = sorted((barrier for barrier in found if not isinstance(barrier, Barrier)), key=_lane_order)
        return {barrier: number for number, barrier in enumerate((*mbarriers, *others))}

    def _add_events(self) -> None:
        for number in self._run.order:
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
            order=self.numbers[number],
            moment=self._run.moments[number],
            lane=lane,
            kind=_KINDS[type(action)],
            text=wording(action, step.phase, self.names),
            point=action.point,
            barriers=tuple(self._lanes[barrier] for barrier in barriers_of(action)),
            phase=step.phase,
            causes=tuple(self._causes(number, step, action)),
            is_bad=self.numbers[number] == self.bad,
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
        for barrier, phase in self._run.phases[number].items():
            self._contributions.setdefault((barrier, phase), {})[self._events[event].lane] = event
        if isinstance(action, Rendezvous) and not action.waits:
            key = (action.name, self.schedule[number].phase)
            self._contributions.setdefault(key, {})[self._events[event].lane] = event

    def _causes(self, number: int, step: Step, action: Action) -> Iterator[int]:
        """Yield the last event of each other role that counts in the phase that a wait sees."""
        keys: list[tuple[object, int | None]] = []
        if isinstance(action, Wait):
            keys += self._run.phases[number].items()
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
        moment = max(self._run.moments, default=0) + 1
        order = self.bad or max(self.numbers, default=0) + 1
        for strand, lane in self._lane_of.items():
            action = self._next.get(strand)
            if action is None:
                continue
            text = f"{wording(action, None, self.names)}: {FOR_EVER}"
            barriers = tuple(self._lanes[b] for b in barriers_of(action) if b in self._lanes)
            is_bad = self.problem is None or self.problem.strand == strand
            self._events.append(
                Event(
                    order, moment, lane, _KINDS[type(action)], text, action.point, barriers,
                    is_stuck=True, is_bad=is_bad,
                )
            )  # fmt: skip

    @cached_property
    def _next(self) -> dict[int, Action]:
        """What each strand that is not at its end would do next."""
        done = {step.strand: step.index + 1 for step in self.schedule if not step.completes}
        return {
            index: strand.actions[done.get(index, 0)]
            for index, strand in enumerate(self.protocol.strands)
            if done.get(index, 0) < len(strand.actions)
        }


def _lane_order(barrier: CountedBarrier) -> tuple[int, tuple[str, ...]]:
    """Return what the lanes of counted barriers are sorted by: kind, then the digits of their numbers."""
    kind = (NamedBarrier, ClusterBarrier, HaltPoint).index(type(barrier))
    return kind, tuple(map(str, astuple(barrier)))


def _text(event: Event) -> str:
    if event.count == 1:
        return event.text
    more = f"and {event.count - 1} more" if event.kind is EventKind.SETUP else f"(×{event.count})"
    return f"{event.text} {more}"


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
