"""Polls that threads give up after some tries: where one fails, those that follow it at once fail too.

Property: a poll that has failed fails again as long as its thread records nothing in between, up to `_MOST` tries; one
whose failures are counted, up to `MOST_COUNTED`.

Argument: the failed poll is kept with the number of events that there were.

Not covered: threads that go on after more tries: they are taken to try until they succeed, which the run assumes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..values.trace import Peek

_MOST = 1024
"""Most tries; threads that go on then are taken to try until they succeed."""
MOST_COUNTED = 16
"""The same where the number of failures decides: not all numbers are run, and the verdict says so."""


@dataclass(slots=True)
class Tries:
    """How often polls have failed, by their point and first thread, with nothing recorded in between."""

    _last: dict[tuple[int, int], tuple[Peek, int, int]] = field(default_factory=dict)
    """The poll that failed, how many events there were, and the tries."""
    _failures: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How often polls have failed in all."""

    def failed(self, peek: Peek, events: int) -> None:
        """Note that a poll fails when so many events are recorded."""
        point, first, _ = peek
        known = self._last.get((point, first))
        tries = known[2] if known is not None and known[:2] == (peek, events) else 0
        self._last[point, first] = peek, events, tries + 1
        self._failures[point, first] += 1

    def again(self, point: int, first: int, events: int) -> Peek | None:
        """Return the poll that failed, if it is tried again and nothing was recorded since; None if not."""
        known = self._last.get((point, first))
        return known[0] if known is not None and known[1] == events else None

    def is_over(self, point: int, first: int, *, counts: bool) -> bool:
        """Tell whether a poll was tried too often; one whose failures are counted, in the whole run."""
        if counts:
            return self._failures[point, first] >= MOST_COUNTED
        known = self._last.get((point, first))
        return known is not None and known[2] >= _MOST
