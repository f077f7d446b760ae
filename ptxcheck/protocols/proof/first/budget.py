"""The effort that one verification may spend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ....terms.effort import UNITS_PER_SECOND, Effort

_PART_OF_EXAMPLES = 0.3
"""How much of the effort runs with numbers may spend."""


class Budget:
    """What is left of an effort; runs with numbers of a host have a share of it."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self._started = effort.spent
        self._last = effort.spent if effort.limit is None else effort.limit
        self._limit = self._last
        self._share = int((self._last - self._started) * _PART_OF_EXAMPLES)
        self._taken_aside = 0

    @property
    def seconds(self) -> float:
        """What there was to begin with, in seconds of the machine that the effort was fitted on."""
        return (self._last - self._started) / UNITS_PER_SECOND

    @property
    def taken(self) -> int:
        """What was spent so far."""
        return self.effort.spent - self._started

    def is_late(self) -> bool:
        """Tell whether nothing is left: in a run with numbers of its share."""
        return self.effort.spent > self._limit or self.effort.is_braked()

    def is_spent(self) -> bool:
        """Tell whether half of it is gone, not counting runs with numbers: then combinations are left out."""
        spent = self.effort.spent
        return spent - self._started - self._taken_aside > self._limit - spent or self.effort.is_braked()

    @property
    def has_share(self) -> bool:
        """Tell whether there is effort for another run with numbers."""
        return self._share >= 0 and not self.is_late()

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Leave a part of the whole for what is done, if so much is left."""
        self._limit = min(self._last, self.effort.spent + int((self._last - self._started) * share))
        try:
            yield
        finally:
            self._limit = self._last

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the effort of a run with numbers from its share."""
        started = self.effort.spent
        self._limit = min(self._last, started + self._share)
        try:
            yield
        finally:
            self._limit = self._last
            taken = self.effort.spent - started
            self._share -= taken
            self._taken_aside += taken
