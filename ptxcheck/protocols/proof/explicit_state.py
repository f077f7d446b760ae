"""Explicit states of a protocol: where strands are, what barriers hold, which work is in flight.

States are compared with a reference schedule as they are made: an action that counts in another phase, or observes
another one, than there ends the search. That is why a state needs no memory of past phases.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..model.actions import (
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
    SyncObject,
    TensorAccess,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.outcome import LAST_OF_ALL, Flaw, Step
from ..model.sync_objects import CountedBarrier, RegisterBudget, concerns
from ..order.counted_barriers import counted

Reference: TypeAlias = Mapping[tuple[int, int], int]
"""Phase of each action (strand, number) in the reference schedule."""


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
    """By the slot of their name in `Explicit`; None for those that are not live."""
    meetings: tuple[tuple[int, Gathered], ...]
    """Those at which somebody has arrived, by the slot of their name in `Explicit`."""
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


_FREE = Access | Fence | Commit | TensorAccess | TensorWait
"""Actions that no wait depends on."""


class Explicit:
    """The steps of a protocol. Amounts of bytes must be numbers."""

    def __init__(self, protocol: Protocol, reference: Reference) -> None:
        self._protocol = protocol
        self._actions = [strand.actions for strand in protocol.strands]
        self._reference = reference
        self._last = self._last_uses()
        objects = {a.barrier for actions in self._actions for a in actions if isinstance(a, Init)}
        self._slots = {name: slot for slot, name in enumerate(sorted(objects))}
        met = [a for actions in self._actions for a in actions if isinstance(a, Rendezvous)]
        self._counted = tuple(dict.fromkeys(action.name for action in met))
        self._counted_slots = {name: slot for slot, name in enumerate(self._counted)}
        self._count_exited = tuple(dict.fromkeys(action.name for action in met if action.without_exited))

    def start(self) -> State:
        count = len(self._actions)
        return State((0,) * count, (False,) * count, (None,) * len(self._slots), (), ())

    def is_done(self, state: State) -> bool:
        return all(at == len(actions) for at, actions in zip(state.at, self._actions, strict=True))

    def next_action(self, state: State, strand: int) -> Action | None:
        actions = self._actions[strand]
        return actions[state.at[strand]] if state.at[strand] < len(actions) else None

    def is_private(self, state: State, strand: int, name: SyncObject) -> bool:
        """Tell whether no other strand, and no work in flight, touches a barrier any more."""
        if any(other != strand and state.at[other] <= last for other, last in self._last.get(name, ())):
            return False
        if name in self._count_exited and any(
            other != strand and at < len(self._actions[other]) for other, at in enumerate(state.at)
        ):
            return False
        return not any(name in names_of(self.issued(flight)) for flight in state.flights)

    def ended_by(self, state: State, strand: int) -> tuple[SyncObject, ...]:
        """Return the barriers that count a strand from its next action on, because that one is its last."""
        if state.at[strand] + 1 < len(self._actions[strand]):
            return ()
        cta = self._protocol.strands[strand].cta
        return tuple(name for name in self._count_exited if concerns(name, cta))

    def _last_uses(self) -> Mapping[SyncObject, list[tuple[int, int]]]:
        found: dict[SyncObject, dict[int, int]] = {}
        for strand, actions in enumerate(self._actions):
            for index, action in enumerate(actions):
                for name in names_of(action):
                    found.setdefault(name, {})[strand] = index
        return {name: sorted(uses.items()) for name, uses in found.items()}

    def issued(self, flight: Flight) -> Action:
        return self._actions[flight.strand][flight.number]

    # -- steps of strands

    def step(self, state: State, strand: int) -> tuple[State, Step] | None:
        """Do the next action of a strand; None when it is blocked. Raises WrongError."""
        action = self.next_action(state, strand)
        assert action is not None
        match action:
            case _ if isinstance(action, _FREE):
                return self._moved(state, strand, None)
            case Init():
                held = Held(action.count, action.count, 0, 0)
                return self._moved(self._with_barrier(state, action.barrier, held), strand, 0)
            case Inval():
                return self._moved(self._with_barrier(state, action.barrier, None), strand, None)
            case Arrive():
                after, phase = self._count(
                    state, strand, action.point, action.barrier, action.count, _number(action.expect),
                    drop=action.count if action.drop else 0, completes=action.completes,
                )  # fmt: skip
                return self._moved(after, strand, phase)
            case Expect():
                after, phase = self._count(
                    state, strand, action.point, action.barrier, 0, _number(action.amount)
                )
                return self._moved(after, strand, phase)
            case Transfer() | AsyncArrive():
                return self._issue(state, strand, action)
            case Wait():
                return self._wait(state, strand, action)
            case WaitGroup():
                return None if self._is_open(state, strand, action) else self._moved(state, strand, None)
            case Rendezvous():
                return self._meet(state, strand, action)
            case Registers():
                return (
                    self._moved(state, strand, None) if self._has_registers(state, strand, action) else None
                )

    def past_free(self, state: State, strand: int) -> tuple[State, list[Step]]:
        """Do the next actions of a strand that touch nothing which others wait for, but for its last one."""
        start, actions = state.at[strand], self._actions[strand]
        end = start
        while end + 1 < len(actions) and isinstance(actions[end], _FREE):
            end += 1
        if end == start:
            return state, []
        at = (*state.at[:strand], end, *state.at[strand + 1 :])
        return state._replace(at=at), [Step(strand, index, None) for index in range(start, end)]

    def _moved(self, state: State, strand: int, phase: int | None) -> tuple[State, Step]:
        step = Step(strand, state.at[strand], phase)
        at = (*state.at[:strand], state.at[strand] + 1, *state.at[strand + 1 :])
        inside = state.inside
        if inside[strand]:
            inside = (*inside[:strand], False, *inside[strand + 1 :])
        moved = state._replace(at=at, inside=inside)
        return self._settled(moved) if at[strand] == len(self._actions[strand]) else moved, step

    def _settled(self, state: State) -> State:
        """Complete counted barriers at which the rest of the threads has ended."""
        done = {
            slot: Gathered(each.generation + 1)
            for slot, each in state.meetings
            if each.strands
            and each.without_exited
            and each.arrived + self._exited(state, self._counted[slot], each) >= each.needed
        }
        if not done:
            return state
        return state._replace(meetings=tuple((slot, done.get(slot, each)) for slot, each in state.meetings))

    def _exited(self, state: State, name: CountedBarrier, each: Gathered) -> int:
        return sum(
            counted(name, strand)
            for index, strand in enumerate(self._protocol.strands)
            if state.at[index] == len(strand.actions) and index not in each.strands
        )

    def _issue(self, state: State, strand: int, action: Transfer | AsyncArrive) -> tuple[State, Step]:
        flight = Flight(strand, state.at[strand])
        if isinstance(action, AsyncArrive) and action.increments:
            held = self._held(state, strand, action.point, action.barrier)
            self._same_phase(strand, flight.number, action.point, action.barrier, held.phase, action)
            state = self._with_barrier(
                state, action.barrier, held._replace(pending=held.pending + action.count)
            )
        if isinstance(action, AsyncArrive) or action.completes or action.pipeline:
            state = state._replace(flights=tuple(sorted((*state.flights, flight))))
        return self._moved(state, strand, None)

    def _wait(self, state: State, strand: int, action: Wait) -> tuple[State, Step] | None:
        held = self._held(state, strand, action.point, action.barrier)
        expected = self._reference.get((strand, state.at[strand]))
        if action.parity is not None:
            if held.phase & 1 == action.parity:
                return None
            named = held.phase - 1
        else:
            if expected is None or held.phase <= expected:
                return None
            named = expected
            if held.phase > expected + 1:
                text = f"the state names phase {expected}, and phase {held.phase} is under way"
                raise WrongError(
                    Wrong(Flaw.MISSED_PHASE, strand, action.point, action.barrier, expected, text)
                )
        self._same_phase(strand, state.at[strand], action.point, action.barrier, named, action)
        return self._moved(state, strand, named)

    def _meet(self, state: State, strand: int, action: Rendezvous) -> tuple[State, Step] | None:
        index = state.at[strand]
        if not action.arrives or state.inside[strand]:
            before = self._gathered(state, action.name)
            joined = self._joined_before(strand, index + 1 if action.arrives else index, action.name)
            return self._moved(state, strand, joined) if before.generation > joined else None
        state, generation = self._gather(state, strand, action)
        if action.without_exited:
            state = self._settled(state)
        if not action.waits:
            return self._moved(state, strand, generation)
        inside = (*state.inside[:strand], True, *state.inside[strand + 1 :])
        return state._replace(inside=inside), Step(strand, index, generation)

    def _gather(self, state: State, strand: int, action: Rendezvous) -> tuple[State, int]:
        """Count an arrival at a counted barrier."""
        before = self._gathered(state, action.name)
        self._same_phase(strand, state.at[strand], action.point, action.name, before.generation, action)
        arrived = before.arrived + action.threads
        if arrived > action.needed:
            text = f"{arrived} threads arrive at a barrier of {action.needed}"
            raise WrongError(
                Wrong(Flaw.OVER_ARRIVAL, strand, action.point, action.name, before.generation, text)
            )
        if arrived == action.needed:
            after = Gathered(before.generation + 1)
        else:
            strands = before.strands | {strand}
            after = Gathered(before.generation, arrived, action.needed, strands, action.without_exited)
        slot = self._counted_slots[action.name]
        first = bisect_left(state.meetings, (slot,))
        rest = bisect_left(state.meetings, (slot + 1,), lo=first)
        meetings = (*state.meetings[:first], (slot, after), *state.meetings[rest:])
        return state._replace(meetings=meetings), before.generation

    def _gathered(self, state: State, name: CountedBarrier) -> Gathered:
        slot = self._counted_slots[name]
        place = bisect_left(state.meetings, (slot,))
        is_there = place < len(state.meetings) and state.meetings[place][0] == slot
        return state.meetings[place][1] if is_there else Gathered()

    def _joined_before(self, strand: int, index: int, name: CountedBarrier) -> int:
        for earlier in range(index - 1, -1, -1):
            action = self._actions[strand][earlier]
            if isinstance(action, Rendezvous) and action.name == name and action.arrives:
                return self._reference.get((strand, earlier), 0)
        return 0

    def _is_open(self, state: State, strand: int, action: WaitGroup) -> bool:
        """Tell whether work of the groups that a wait covers is in flight, or not issued by another warp."""
        groups = self._committed(strand, state.at[strand], action.pipeline)
        for member in self._members(strand, action.pipeline):
            own = self._committed(member, state.at[member], action.pipeline)
            if len(own) < len(groups):
                return True
            last = len(groups) - action.pending - 1
            if last >= 0 and any(
                flight.strand == member and flight.number < own[last]
                and getattr(self.issued(flight), "pipeline", "") == action.pipeline
                and isinstance(self.issued(flight), Transfer)
                for flight in state.flights
            ):  # fmt: skip
                return True
        return False

    def _members(self, strand: int, pipeline: str) -> Iterator[int]:
        from ..model.actions import TEAM_PIPELINES

        if pipeline not in TEAM_PIPELINES:
            yield strand
            return
        for member in self._protocol.team(strand):
            if any(isinstance(a, Commit) and a.pipeline == pipeline for a in self._actions[member]):
                yield member

    def _committed(self, strand: int, at: int, pipeline: str) -> list[int]:
        """Return where a strand has closed groups of a pipeline so far."""
        return [
            index for index, action in enumerate(self._actions[strand][:at])
            if isinstance(action, Commit) and action.pipeline == pipeline
        ]  # fmt: skip

    def _has_registers(self, state: State, strand: int, action: Registers) -> bool:
        start = self._protocol.registers
        if start is None or not action.increases:
            return True
        free, own = 0, start
        for other, at in enumerate(state.at):
            if self._protocol.strands[other].cta != self._protocol.strands[strand].cta:
                continue
            held = start
            for each in self._actions[other][:at]:
                if isinstance(each, Registers):
                    free += (held - each.count) * each.warps
                    held = each.count
            if other == strand:
                own = held
        return (action.count - own) * action.warps <= free

    # -- steps of work in flight

    def may_complete(self, state: State, flight: Flight) -> bool:
        """Tell whether work may complete now: an arrival comes after all earlier work of its pipeline.

        So it does after arrivals like it: they are alike, and which one counts first makes no difference.
        """
        action = self.issued(flight)
        if isinstance(action, Transfer):
            return True
        assert isinstance(action, AsyncArrive)
        return not any(
            other.strand == flight.strand and other.number < flight.number
            and getattr(self.issued(other), "pipeline", "") == action.pipeline
            and (isinstance(self.issued(other), Transfer) or _are_alike(self.issued(other), action))
            for other in state.flights
        )  # fmt: skip

    def complete(self, state: State, flight: Flight) -> tuple[State, Step]:
        """Complete work in flight. Raises WrongError."""
        action = self.issued(flight)
        place = state.flights.index(flight)
        state = state._replace(flights=state.flights[:place] + state.flights[place + 1 :])
        phase: int | None = None
        if isinstance(action, AsyncArrive | Transfer) and any(
            self.held(state, name) is None for name in _objects_of(action)
        ):
            return state, Step(flight.strand, flight.number, None, completes=True)
        if isinstance(action, AsyncArrive):
            state, phase = self._count(
                state, flight.strand, action.point, action.barrier, action.count, 0, index=flight.number
            )
        elif isinstance(action, Transfer):
            for barrier, amount in action.completes:
                state, phase = self._count(
                    state, flight.strand, action.point, barrier, 0, -_number(amount), index=flight.number
                )
        return state, Step(flight.strand, flight.number, phase, completes=True)

    # -- mbarriers

    def held(self, state: State, name: Barrier) -> Held | None:
        """Return a live mbarrier, None for one that is not."""
        slot = self._slots.get(name)
        return None if slot is None else state.barriers[slot]

    def _with_barrier(self, state: State, name: Barrier, held: Held | None) -> State:
        slot = self._slots.get(name)
        if slot is None:
            return state
        return state._replace(barriers=(*state.barriers[:slot], held, *state.barriers[slot + 1 :]))

    def _held(self, state: State, strand: int, point: int, name: Barrier) -> Held:
        held = self.held(state, name)
        if held is not None:
            return held
        text = "used before it is initialised"
        raise WrongError(Wrong(Flaw.UNINITIALISED, strand, point, name, -1, text))

    def _count(
        self,
        state: State,
        strand: int,
        point: int,
        name: Barrier,
        count: int,
        amount: int,
        *,
        drop: int = 0,
        index: int = -1,
        completes: bool = True,
    ) -> tuple[State, int]:
        """Add bytes, then take arrivals off; complete the phase when both are zero."""
        held = self._held(state, strand, point, name)
        place = state.at[strand] if index < 0 else index
        self._same_phase(strand, place, point, name, held.phase, self._actions[strand][place])
        pending = held.pending - count
        if pending < 0:
            text = f"arrivals of the phase exceed the expected count {held.expected}"
            raise WrongError(Wrong(Flaw.OVER_ARRIVAL, strand, point, name, held.phase, text))
        if pending == 0 and not completes:
            raise WrongError(Wrong(Flaw.OVER_ARRIVAL, strand, point, name, held.phase, LAST_OF_ALL))
        after = Held(held.expected - drop, pending, held.bytes + amount, held.phase)
        if after.pending == 0 and after.bytes == 0:
            after = Held(after.expected, after.expected, 0, held.phase + 1)
        return self._with_barrier(state, name, after), held.phase

    def _same_phase(
        self, strand: int, index: int, point: int, name: SyncObject, phase: int, action: Action
    ) -> None:
        expected = self._reference.get((strand, index))
        if expected is None or expected == phase:
            return
        flaw, what = _difference(action, phase < expected)
        text = f"{what} phase {phase} in this schedule, and phase {expected} in another one"
        raise WrongError(Wrong(flaw, strand, point, name, phase, text))


def _are_alike(earlier: Action, later: AsyncArrive) -> bool:
    """Tell whether two arrivals by one pipeline of a strand do the same: not those of several lanes (see `phases`)."""
    if not isinstance(earlier, AsyncArrive) or earlier.increments or later.increments:
        return False
    return earlier.barrier == later.barrier and earlier.count == later.count == 1


def _difference(action: Action, early: bool) -> tuple[Flaw, str]:
    match action:
        case Wait():
            return (Flaw.EARLY_WAIT if early else Flaw.MISSED_PHASE), "the wait observes"
        case Transfer():
            return Flaw.EARLY_TRANSFER, "the bytes count in"
        case Expect():
            return Flaw.LATE_EXPECT, "the bytes are expected in"
        case _:
            return Flaw.EARLY_ARRIVAL, "the arrival counts in"


def names_of(action: Action) -> tuple[SyncObject, ...]:
    """Return the barriers that an action touches, now or when its work completes."""
    match action:
        case AsyncArrive() | Transfer():
            return _objects_of(action)
        case Init() | Inval() | Arrive() | Expect() | Wait():
            return (action.barrier,)
        case Rendezvous():
            return (action.name,)
        case Registers():
            return (RegisterBudget(action.cta),)
        case _:
            return ()


def _objects_of(action: AsyncArrive | Transfer) -> tuple[Barrier, ...]:
    if isinstance(action, AsyncArrive):
        return (action.barrier,)
    return tuple(barrier for barrier, _ in action.completes)


def _number(amount: object) -> int:
    assert isinstance(amount, int)
    return amount
