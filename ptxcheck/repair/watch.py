"""What a search for repairs tells while it goes on, and the clock that ends it where counted effort does not."""

from __future__ import annotations

import math
import os

from ..finding import Finding


class Watch:
    """Told what a search does; this one says nothing."""

    def begins(self, finding: Finding) -> None:
        """A finding is worked on."""

    def tries(self, count: int, what: str) -> None:
        """A candidate for it is judged, after so many others."""

    def keeps(self, finding: Finding, summary: str, text: str) -> None:
        """A repair of it is kept, which makes this text."""


class Brake:
    """An emergency brake: what a search and the programs that it calls may take on any machine.

    Counted effort shapes the answer; what this ends is said to be ended, and more of it may give another answer.
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self.was_pulled = False
        self._end = processor_seconds() + seconds

    def is_pulled(self) -> bool:
        """Tell whether the time is over."""
        self.was_pulled |= processor_seconds() > self._end
        return self.was_pulled


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])
