"""Who knows what, where each event that happens again is forgotten by all.

Property: what a slot holds is what it would hold if `forget` had cleared the event from every slot at once.

Argument: events that were forgotten stand in a list, and each slot says how much of the list it has seen. It is brought
up to date where it is read, so that a slot which nobody reads between two states costs nothing but one step for all
of them.

Not covered: whose slots there are (`state`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .rows import Bits, Knowledge, Rows

Slot: TypeAlias = tuple[object, ...] | int
"""Whose knowledge: a strand, by number, or what its name says."""


class Clocks:
    """What each slot knows: a mapping, in the order in which slots were first set."""

    __slots__ = ("_forgotten", "_known", "_masks", "_rows", "_seen", "_together")

    def __init__(self, rows: Rows, known: dict[Slot, Knowledge]) -> None:
        self._rows = rows
        self._known = known
        self._forgotten: list[Bits] = []
        self._together: Bits = 0
        """All that is in the list."""
        self._masks: dict[int, Knowledge] = {}
        """What slots do not know that have seen so much of the list; nothing where no slot was brought up to date."""
        self._seen: dict[Slot, int] = {}
        """How much of the list slots have seen; nothing where there is no entry."""

    def forget(self, event: Bits) -> None:
        """Let nobody know of an event."""
        self._forgotten.append(event)
        self._together |= event
        self._masks.clear()

    def __getitem__(self, slot: Slot) -> Knowledge:
        known = self._known[slot]
        if not known or self._seen.get(slot, 0) == len(self._forgotten):
            return known
        return self._updated(slot, known)

    def get(self, slot: Slot, default: Knowledge = 0) -> Knowledge:
        return self[slot] if slot in self._known else default

    def __setitem__(self, slot: Slot, known: Knowledge) -> None:
        self._known[slot] = known
        if self._forgotten:
            self._seen[slot] = len(self._forgotten)

    def __delitem__(self, slot: Slot) -> None:
        del self._known[slot]

    def pop(self, slot: Slot, default: Knowledge = 0) -> Knowledge:
        if slot not in self._known:
            return default
        known = self[slot]
        del self._known[slot]
        return known

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._known)

    def items(self) -> list[tuple[Slot, Knowledge]]:
        """Return all slots, brought up to date."""
        self._update_all()
        return list(self._known.items())

    def copy(self) -> Clocks:
        self._update_all()
        return Clocks(self._rows, self._known.copy())

    def _update_all(self) -> None:
        if not self._forgotten:
            return
        for slot, known in self._known.items():
            if known:
                self._updated(slot, known)
        self._forgotten.clear()
        self._together = 0
        self._masks.clear()
        self._seen.clear()

    def _updated(self, slot: Slot, known: Knowledge) -> Knowledge:
        forgotten = self._forgotten
        seen, count = self._seen.get(slot, 0), len(forgotten)
        if seen == count:
            return known
        mask = self._masks.get(seen)
        if mask is None:
            events = self._together
            if seen:
                events = 0
                for event in forgotten[seen:]:
                    events |= event
            mask = self._masks[seen] = self._rows.in_all(events)
        known ^= known & mask
        self._known[slot] = known
        self._seen[slot] = count
        return known
