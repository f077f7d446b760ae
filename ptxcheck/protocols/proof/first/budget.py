"""The processor time that one verification may take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_PART_OF_EXAMPLES = 0.3
"""How much of the time runs with numbers may take."""


class Budget:
    """Processor time until a deadline, in seconds; runs with numbers of a host have a share of it."""

    def __init__(self, deadline: float) -> None:
        self._started = time.process_time()
        self._deadline = self._last_moment = deadline
        self._share = self.seconds * _PART_OF_EXAMPLES
        self._taken_aside = 0.0

    @property
    def seconds(self) -> float:
        """What there was to begin with."""
        return self._last_moment - self._started

    @property
    def taken(self) -> float:
        """What was taken so far."""
        return time.process_time() - self._started

    def is_late(self) -> bool:
        """Tell whether the time is up: in a run with numbers its share of it."""
        return time.process_time() > self._deadline

    def is_spent(self) -> bool:
        """Tell whether half of the time is gone, not counting runs with numbers: then combinations are left out."""
        now = time.process_time()
        return now - self._started - self._taken_aside > self._deadline - now

    @property
    def has_share(self) -> bool:
        """Tell whether there is time for another run with numbers."""
        return self._share >= 0 and not self.is_late()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the time of a run with numbers from its share."""
        started = time.process_time()
        self._deadline = min(self._last_moment, started + self._share)
        try:
            yield
        finally:
            self._deadline = self._last_moment
            taken = time.process_time() - started
            self._share -= taken
            self._taken_aside += taken
