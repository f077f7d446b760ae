"""What steps of a protocol do to counted barriers, on explicit states.

Property: an arrival at the last place of a generation ends it, and lets all pass that have joined it; threads that
have ended count at barriers that count the rest.

Argument: of a generation only who has arrived matters, and of those before only how many there were: a strand passes
when the barrier is beyond the generation that it joined, which is that of its last arrival in the reference.

Not covered: different numbers of threads named in one generation, and lanes that come apart from their warp: the
simulation reports them, and they need no search.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ..model.actions import Action, Protocol, Rendezvous
from ..model.outcome import Flaw
from ..model.sync_objects import CountedBarrier
from ..order.counted_barriers import counted
from .explicit_state import Gathered, State, Wrong, WrongError
from .reference_phases import Reference, check_phase


class RendezvousTransitions:
    """The counted barriers of the states of a protocol."""

    def __init__(self, protocol: Protocol, reference: Reference) -> None:
        self._protocol = protocol
        self._actions: Sequence[tuple[Action, ...]] = [strand.actions for strand in protocol.strands]
        self._reference = reference
        met = [a for actions in self._actions for a in actions if isinstance(a, Rendezvous)]
        self._names = tuple(dict.fromkeys(action.name for action in met))
        self._slots = {name: slot for slot, name in enumerate(self._names)}
        self.counting_exited = tuple(dict.fromkeys(action.name for action in met if action.without_exited))
        """Barriers at which threads that have ended count."""

    def gather(self, state: State, strand: int, action: Rendezvous) -> tuple[State, int]:
        """Count an arrival at a counted barrier."""
        before = self._gathered(state, action.name)
        check_phase(self._reference, strand, state.at[strand], action.name, before.generation, action)
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
        slot = self._slots[action.name]
        first = bisect_left(state.meetings, (slot,))
        rest = bisect_left(state.meetings, (slot + 1,), lo=first)
        meetings = (*state.meetings[:first], (slot, after), *state.meetings[rest:])
        return state._replace(meetings=meetings), before.generation

    def passed(self, state: State, strand: int, action: Rendezvous) -> int | None:
        """Return the generation that a strand joined, None while it is not complete."""
        index = state.at[strand]
        joined = self._joined_before(strand, index + 1 if action.arrives else index, action.name)
        return joined if self._gathered(state, action.name).generation > joined else None

    def settled(self, state: State) -> State:
        """Complete counted barriers at which the rest of the threads has ended."""
        done = {
            slot: Gathered(each.generation + 1)
            for slot, each in state.meetings
            if each.strands
            and each.without_exited
            and each.arrived + self._exited(state, self._names[slot], each) >= each.needed
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

    def _gathered(self, state: State, name: CountedBarrier) -> Gathered:
        slot = self._slots[name]
        place = bisect_left(state.meetings, (slot,))
        is_there = place < len(state.meetings) and state.meetings[place][0] == slot
        return state.meetings[place][1] if is_there else Gathered()

    def _joined_before(self, strand: int, index: int, name: CountedBarrier) -> int:
        for earlier in range(index - 1, -1, -1):
            action = self._actions[strand][earlier]
            if isinstance(action, Rendezvous) and action.name == name and action.arrives:
                return self._reference.get((strand, earlier), 0)
        return 0
