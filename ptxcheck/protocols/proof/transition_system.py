"""The transition system of a protocol: from each explicit state, the steps of strands and of work in flight.

Property: the schedules of a protocol are the paths of this system, up to the first step that goes wrong.

Argument: an action is one step, but for a rendezvous that waits, which first arrives and later passes; work that an
action starts completes in a step of its own, at any moment that `blocking` allows. `is_private` and `ended_by` name
what other strands may still touch, so that a search may put steps first that commute with all others.

Not covered: amounts of bytes that are no numbers, and what accesses see: fences and accesses only move their strand on.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from ..model.object_uses import mbarriers_of_work, sync_objects_of
from ..model.outcome import Step
from ..model.sync_objects import concerns
from .blocking import Blocking
from .explicit_state import Flight, Held, State
from .mbarrier_transitions import MbarrierTransitions
from .reference_phases import Reference, check_phase
from .rendezvous_transitions import RendezvousTransitions

_FREE = Access | Fence | Commit | TensorAccess | TensorWait
"""Actions that no wait depends on."""


class TransitionSystem:
    """The steps of a protocol. Amounts of bytes must be numbers."""

    def __init__(self, protocol: Protocol, reference: Reference) -> None:
        self._protocol = protocol
        self._actions = [strand.actions for strand in protocol.strands]
        self._reference = reference
        self._mbarriers = MbarrierTransitions(protocol, reference)
        self._rendezvous = RendezvousTransitions(protocol, reference)
        self._blocking = Blocking(protocol)
        self._last = self._last_uses()

    def start(self) -> State:
        """Return the state in which nothing has been done."""
        count = len(self._actions)
        return State((0,) * count, (False,) * count, self._mbarriers.none_live, (), ())

    def is_done(self, state: State) -> bool:
        """Tell whether all strands have ended."""
        return all(at == len(actions) for at, actions in zip(state.at, self._actions, strict=True))

    def next_action(self, state: State, strand: int) -> Action | None:
        """Return what a strand does next, None at its end."""
        actions = self._actions[strand]
        return actions[state.at[strand]] if state.at[strand] < len(actions) else None

    def issued(self, flight: Flight) -> Action:
        """Return the action that issued work."""
        return self._blocking.issued(flight)

    def held(self, state: State, name: Barrier) -> Held | None:
        """Return a live mbarrier, None for one that is not."""
        return self._mbarriers.held(state, name)

    def may_complete(self, state: State, flight: Flight) -> bool:
        """Tell whether work may complete now."""
        return self._blocking.may_complete(state, flight)

    def is_private(self, state: State, strand: int, name: SyncObject) -> bool:
        """Tell whether no other strand, and no work in flight, touches a barrier any more."""
        if any(other != strand and state.at[other] <= last for other, last in self._last.get(name, ())):
            return False
        if name in self._rendezvous.counting_exited and any(
            other != strand and at < len(self._actions[other]) for other, at in enumerate(state.at)
        ):
            return False
        return not any(name in sync_objects_of(self.issued(flight)) for flight in state.flights)

    def ended_by(self, state: State, strand: int) -> tuple[SyncObject, ...]:
        """Return the barriers that count a strand from its next action on, because that one is its last."""
        if state.at[strand] + 1 < len(self._actions[strand]):
            return ()
        cta = self._protocol.strands[strand].cta
        return tuple(name for name in self._rendezvous.counting_exited if concerns(name, cta))

    def _last_uses(self) -> Mapping[SyncObject, list[tuple[int, int]]]:
        found: dict[SyncObject, dict[int, int]] = {}
        for strand, actions in enumerate(self._actions):
            for index, action in enumerate(actions):
                for name in sync_objects_of(action):
                    found.setdefault(name, {})[strand] = index
        return {name: sorted(uses.items()) for name, uses in found.items()}

    def step(self, state: State, strand: int) -> tuple[State, Step] | None:
        """Do the next action of a strand; None when it is blocked. Raises WrongError."""
        action = self.next_action(state, strand)
        assert action is not None
        match action:
            case _ if isinstance(action, _FREE):
                return self._moved(state, strand, None)
            case Init():
                held = Held(action.count, action.count, 0, 0)
                return self._moved(self._mbarriers.with_barrier(state, action.barrier, held), strand, 0)
            case Inval():
                return self._moved(self._mbarriers.with_barrier(state, action.barrier, None), strand, None)
            case Arrive():
                after, phase = self._mbarriers.count(
                    state, strand, action.point, action.barrier, action.count, _number(action.expect),
                    drop=action.count if action.drop else 0, completes=action.completes,
                )  # fmt: skip
                return self._moved(after, strand, phase)
            case Expect():
                after, phase = self._mbarriers.count(
                    state, strand, action.point, action.barrier, 0, _number(action.amount)
                )
                return self._moved(after, strand, phase)
            case Transfer() | AsyncArrive():
                return self._issue(state, strand, action)
            case Wait():
                observed = self._mbarriers.observed(state, strand, action)
                return None if observed is None else self._moved(state, strand, observed)
            case WaitGroup():
                return (
                    None
                    if self._blocking.is_open(state, strand, action)
                    else self._moved(state, strand, None)
                )
            case Rendezvous():
                return self._meet(state, strand, action)
            case Registers():
                return (
                    self._moved(state, strand, None)
                    if self._blocking.has_registers(state, strand, action)
                    else None
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
        return self._rendezvous.settled(moved) if at[strand] == len(self._actions[strand]) else moved, step

    def _issue(self, state: State, strand: int, action: Transfer | AsyncArrive) -> tuple[State, Step]:
        flight = Flight(strand, state.at[strand])
        if isinstance(action, AsyncArrive) and action.increments:
            held = self._mbarriers.live(state, strand, action.point, action.barrier)
            check_phase(self._reference, strand, flight.number, action.barrier, held.phase, action)
            state = self._mbarriers.with_barrier(
                state, action.barrier, held._replace(pending=held.pending + action.count)
            )
        if isinstance(action, AsyncArrive) or action.completes or action.pipeline:
            state = state._replace(flights=tuple(sorted((*state.flights, flight))))
        return self._moved(state, strand, None)

    def _meet(self, state: State, strand: int, action: Rendezvous) -> tuple[State, Step] | None:
        index = state.at[strand]
        if not action.arrives or state.inside[strand]:
            passed = self._rendezvous.passed(state, strand, action)
            return None if passed is None else self._moved(state, strand, passed)
        state, generation = self._rendezvous.gather(state, strand, action)
        if action.without_exited:
            state = self._rendezvous.settled(state)
        if not action.waits:
            return self._moved(state, strand, generation)
        inside = (*state.inside[:strand], True, *state.inside[strand + 1 :])
        return state._replace(inside=inside), Step(strand, index, generation)

    def complete(self, state: State, flight: Flight) -> tuple[State, Step]:
        """Complete work in flight. Raises WrongError."""
        action = self.issued(flight)
        place = state.flights.index(flight)
        state = state._replace(flights=state.flights[:place] + state.flights[place + 1 :])
        phase: int | None = None
        if isinstance(action, AsyncArrive | Transfer) and any(
            self.held(state, name) is None for name in mbarriers_of_work(action)
        ):
            return state, Step(flight.strand, flight.number, None, completes=True)
        if isinstance(action, AsyncArrive):
            state, phase = self._mbarriers.count(
                state, flight.strand, action.point, action.barrier, action.count, 0, index=flight.number
            )
        elif isinstance(action, Transfer):
            for barrier, amount in action.completes:
                state, phase = self._mbarriers.count(
                    state, flight.strand, action.point, barrier, 0, -_number(amount), index=flight.number
                )
        return state, Step(flight.strand, flight.number, phase, completes=True)


def _number(amount: object) -> int:
    assert isinstance(amount, int)
    return amount
