"""How often a run has come to something: what tells symbols apart that one place gives again and again.

Property: no two calls of `count` with equal keys return one number.

Argument: each call adds one to the number of its key.

Not covered: keys that are equal by chance; each kind of symbol puts a word of its own in front.
"""

from __future__ import annotations


class Visits:
    """Numbers of visits by key."""

    def __init__(self) -> None:
        self._seen: dict[object, int] = {}
        self.point = -1
        """Where the machine is, for who tells visits apart by place alone; -1: they are counted."""

    def count(self, key: object) -> int:
        """Return how often this was asked with the same key before."""
        if self.point >= 0:
            return self.point
        seen = self._seen.get(key, 0)
        self._seen[key] = seen + 1
        return seen
