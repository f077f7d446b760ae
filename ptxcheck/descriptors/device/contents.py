"""What a tensor map in memory is made of, as far as a kernel writes it.

Order: `Contents` are sets of possibilities; `join` is their union, entry by entry. Properties: the bytes of each
slot come from one of its sources, and the last change was ordered as far as one of `steps` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .field import Slot


class Base(IntEnum):
    """What the bytes are that no replacement wrote."""

    ZERO = 0
    """Zeros that the kernel stored."""
    GIVEN = 1
    """A map from elsewhere: the host's, or a copy of it."""
    UNSET = 2
    """Shared memory that this kernel has not written."""
    LOST = 3
    """Something that the analysis could not follow."""


class Step(IntEnum):
    """How far the last change is on its way to a copy that reads the map."""

    CHANGED = 0
    RELEASED = 1
    ACQUIRED = 2
    UNKNOWN = 3


BASE = -1
"""Source of a slot that no replacement wrote."""
NO_CHANGE = -1


@dataclass(frozen=True, slots=True)
class Contents:
    """One map: what unset bytes are, the points that wrote each slot, and the ordering of the last change."""

    bases: frozenset[Base]
    slots: tuple[tuple[Slot, frozenset[int]], ...] = ()
    steps: frozenset[tuple[int, Step]] = frozenset({(NO_CHANGE, Step.ACQUIRED)})
    """Point of the last change (`NO_CHANGE`: none in this kernel), and how far it got."""

    def sources(self, slot: Slot) -> frozenset[int]:
        """Return the points that may have written a slot; `BASE` for none."""
        return dict(self.slots).get(slot, frozenset({BASE}))

    def replaced(self, slot: Slot, point: int) -> Contents:
        """Return the contents after one replacement."""
        slots = {**dict(self.slots), slot: frozenset({point})}
        return Contents(self.bases, _sorted(slots), frozenset({(point, Step.CHANGED)}))

    def moved(self, step: Step) -> Contents:
        """Return the contents with every change at least one step behind `step` moved to it."""
        after = frozenset((p, step if s == step - 1 else s) for p, s in self.steps)
        return self if after == self.steps else Contents(self.bases, self.slots, after)

    def copied(self, point: int) -> Contents:
        """Return a copy of the contents elsewhere, released as it was made."""
        return Contents(self.bases, self.slots, frozenset({(point, Step.RELEASED)}))

    def join(self, other: Contents) -> Contents:
        """Return what holds of one or the other."""
        if self == other:
            return self
        names = {slot for slot, _ in self.slots} | {slot for slot, _ in other.slots}
        slots = {slot: self.sources(slot) | other.sources(slot) for slot in names}
        return Contents(self.bases | other.bases, _sorted(slots), self.steps | other.steps)


def of(base: Base, point: int = NO_CHANGE) -> Contents:
    """Return a map of which nothing is replaced; written as a whole at `point`, where one is given."""
    if point == NO_CHANGE:
        return Contents(frozenset({base}))
    return Contents(frozenset({base}), steps=frozenset({(point, Step.CHANGED)}))


LOST = Contents(frozenset({Base.LOST}), steps=frozenset({(NO_CHANGE, Step.UNKNOWN)}))


def _sorted(slots: dict[Slot, frozenset[int]]) -> tuple[tuple[Slot, frozenset[int]], ...]:
    return tuple(sorted(slots.items(), key=lambda item: item[0]))
