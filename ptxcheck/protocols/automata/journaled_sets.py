"""Sets by key that only grow, and that can be taken back to what they were.

Property: `forget_since(n)` leaves the sets as they were when `count` was n.

Argument: what was added is kept in order, each value of a key once.

Not covered: values that are taken out of the middle.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V", bound=Hashable)


class JournaledSets(Generic[_K, _V]):
    """A set for each key; values keep the order in which they came."""

    def __init__(self) -> None:
        self._sets: dict[_K, dict[_V, None]] = {}
        self._added: list[tuple[_K, _V]] = []

    @property
    def count(self) -> int:
        """How many values there are in all sets together."""
        return len(self._added)

    def add(self, key: _K, value: _V) -> bool:
        """Add a value; tell whether it is new."""
        own = self._sets.setdefault(key, {})
        if value in own:
            return False
        own[value] = None
        self._added.append((key, value))
        return True

    def of(self, key: _K) -> Mapping[_V, None]:
        """Return the values of a key."""
        return self._sets.get(key, {})

    def since(self, count: int) -> Iterable[tuple[_K, _V]]:
        """Return what was added behind the first values, in order."""
        return self._added[count:]

    def forget_since(self, count: int) -> None:
        """Forget all values but the first that were added."""
        for key, value in self._added[count:]:
            del self._sets[key][value]
        del self._added[count:]
