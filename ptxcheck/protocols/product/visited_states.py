"""States that an exploration has come to, how it came there, and which of them it has yet to go on from.

Property: `VisitedStates.add` tells whether what is known of a state has to be followed on; who comes to a state again
before that was done is followed together with the others.

Argument: the states with one control are one, which asks for all that they ask for and knows what all of them know:
a worklist over controls (Kildall 1973). They are followed in the order in which they were first come to, so that more
ways have come together by then than where the last one goes on first.

Not covered: what control is: see `exploration`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from .order_state import OrderState

ENDED, IMPOSSIBLE = -1, -2
"""In place of a state: that all threads end, and that no run comes there."""
_S = TypeVar("_S")


class VisitedStates(Generic[_S]):
    """The states of one exploration."""

    def __init__(self) -> None:
        self._known: dict[Hashable, OrderState] = {}
        self._behind: dict[Hashable, set[Hashable]] = {}
        """From which states each state, and the end of all threads, was come to."""
        self._waiting: dict[Hashable, _S] = {}

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        self._known.clear()
        self._behind.clear()
        self._waiting.clear()

    def note_way(self, control: Hashable, parent: Hashable) -> None:
        """Note from where a state was come to."""
        self._behind.setdefault(control, set()).add(parent)

    def add(self, control: Hashable, order: OrderState) -> bool:
        """Let an order stand for all that have come with one control; False where an earlier one covers it."""
        old = self._known.get(control)
        if old is not None:
            if order.covered_by(old):
                return False
            order.weaken(old)
        self._known[control] = order.copy()
        return True

    def wait(self, control: Hashable, state: _S) -> None:
        """Let a state wait, in place of one that waits with that control."""
        self._waiting[control] = state

    def next(self) -> _S | None:
        """Return the state that has waited longest; None where none waits."""
        return self._waiting.pop(next(iter(self._waiting))) if self._waiting else None

    @property
    def all_end(self) -> bool:
        """Tell whether threads may come to their ends from each state that some run comes to.

        No run comes to a state from which all ways are impossible.
        """
        ahead: dict[Hashable, int] = {}
        for sources in self._behind.values():
            for source in sources:
                ahead[source] = ahead.get(source, 0) + 1
        impossible: set[Hashable] = {IMPOSSIBLE}
        waiting: list[Hashable] = [IMPOSSIBLE, *(state for state in self._known if state not in ahead)]
        impossible.update(waiting)
        while waiting:
            for source in self._behind.get(waiting.pop(), ()):
                ahead[source] -= 1
                if not ahead[source]:
                    impossible.add(source)
                    waiting.append(source)
        ending: set[Hashable] = {ENDED}
        waiting = [ENDED]
        while waiting:
            sources = self._behind.get(waiting.pop(), set()) - ending
            ending |= sources
            waiting.extend(sources)
        return all(state in ending or state in impossible for state in self._known)


__all__ = ["ENDED", "IMPOSSIBLE", "VisitedStates"]
