"""What steps of a protocol do to mbarriers, on explicit states.

Property: from a state, an arrival, an expect, completed bytes, a wait, an initialisation and an invalidation lead to
the states of the PTX ISA ("mbarrier"): a phase completes when no arrival is pending and no byte is missing.

Argument: the state holds what the mbarrier object does: expected count, pending count, bytes and the phase.

Not covered: symbolic bytes, which have numbers by then; the limits of counts; memory that arrivals publish. Work that
completes on what is no mbarrier any more counts nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.actions import Action, Barrier, Init, Protocol, Wait
from ..model.outcome import LAST_OF_ALL, Flaw
from .explicit_state import Held, State, Wrong, WrongError
from .reference_phases import Reference, check_phase


class MbarrierTransitions:
    """The mbarriers of the states of a protocol."""

    def __init__(self, protocol: Protocol, reference: Reference) -> None:
        self._actions: Sequence[tuple[Action, ...]] = [strand.actions for strand in protocol.strands]
        self._reference = reference
        objects = {a.barrier for actions in self._actions for a in actions if isinstance(a, Init)}
        self._slots = {name: slot for slot, name in enumerate(sorted(objects))}

    @property
    def none_live(self) -> tuple[None, ...]:
        """The mbarriers of a state before any is initialised."""
        return (None,) * len(self._slots)

    def held(self, state: State, name: Barrier) -> Held | None:
        """Return a live mbarrier, None for one that is not."""
        slot = self._slots.get(name)
        return None if slot is None else state.barriers[slot]

    def with_barrier(self, state: State, name: Barrier, held: Held | None) -> State:
        """Return a state in which an mbarrier holds something else; None ends its life."""
        slot = self._slots.get(name)
        if slot is None:
            return state
        return state._replace(barriers=(*state.barriers[:slot], held, *state.barriers[slot + 1 :]))

    def live(self, state: State, strand: int, point: int, name: Barrier) -> Held:
        """Return an mbarrier that somebody uses. Raises WrongError for one that is not live."""
        held = self.held(state, name)
        if held is not None:
            return held
        text = "used before it is initialised"
        raise WrongError(Wrong(Flaw.UNINITIALISED, strand, point, name, -1, text))

    def count(
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
        held = self.live(state, strand, point, name)
        place = state.at[strand] if index < 0 else index
        check_phase(self._reference, strand, place, name, held.phase, self._actions[strand][place])
        pending = held.pending - count
        if pending < 0:
            text = f"arrivals of the phase exceed the expected count {held.expected}"
            raise WrongError(Wrong(Flaw.OVER_ARRIVAL, strand, point, name, held.phase, text))
        if pending == 0 and not completes:
            raise WrongError(Wrong(Flaw.OVER_ARRIVAL, strand, point, name, held.phase, LAST_OF_ALL))
        after = Held(held.expected - drop, pending, held.bytes + amount, held.phase)
        if after.pending == 0 and after.bytes == 0:
            after = Held(after.expected, after.expected, 0, held.phase + 1)
        return self.with_barrier(state, name, after), held.phase

    def observed(self, state: State, strand: int, action: Wait) -> int | None:
        """Return the phase that a wait observes, None while it has to wait. Raises WrongError."""
        held = self.live(state, strand, action.point, action.barrier)
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
        check_phase(self._reference, strand, state.at[strand], action.barrier, named, action)
        return named
