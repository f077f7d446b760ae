"""What is known of a number: bounds, and numbers that it is not.

Property: each operation keeps all numbers that are possible.

Argument: integers; a bound that is excluded moves by one.

Not covered: what relates two numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Interval:
    """What is known of a number."""

    low: int | None = None
    high: int | None = None
    excluded: frozenset[int] = _NOTHING

    def within(self, other: Interval) -> Interval:
        """Return what both say."""
        if other is ANYTHING:
            return self
        if self is ANYTHING:
            return other
        low, high = self.low, self.high
        if low is None or (other.low is not None and other.low > low):
            low = other.low
        if high is None or (other.high is not None and other.high < high):
            high = other.high
        return Interval(low, high, self.excluded | other.excluded).tight()

    def rounded(self, marks: Sequence[int]) -> Interval:
        """Return what is known of being below any of some thresholds, which are sorted."""
        below = 0 if self.low is None else bisect_right(marks, self.low)
        above = len(marks) if self.high is None else bisect_right(marks, self.high)
        low = marks[below - 1] if below else None
        return Interval(low, marks[above] - 1 if above < len(marks) else None)

    @property
    def example(self) -> int | None:
        """Return a number that is possible, the least one from 0 on if there is one; None if nothing is known."""
        if self.is_empty or self == Interval():
            return None
        is_negative = self.high is not None and self.high < 0
        number = 0 if self.low is None else self.low if is_negative else max(self.low, 0)
        if self.high is not None and number > self.high:
            number = self.high
        while number in self.excluded and (self.high is None or number < self.high):
            number += 1
        return number

    def is_below(self, threshold: int) -> bool | None:
        if self.high is not None and self.high < threshold:
            return True
        return False if self.low is not None and self.low >= threshold else None

    def is_equal(self, number: int) -> bool | None:
        if self.low is not None and self.low == self.high:
            return number == self.low
        is_out = (self.low is not None and number < self.low) or (
            self.high is not None and number > self.high
        )
        return False if is_out or number in self.excluded else None

    def with_below(self, threshold: int, truth: bool) -> Interval:
        low, high = self.low, self.high
        if truth:
            high = threshold - 1 if high is None else min(high, threshold - 1)
        else:
            low = threshold if low is None else max(low, threshold)
        return Interval(low, high, self.excluded).tight()

    def with_equal(self, number: int, truth: bool) -> Interval:
        if truth:
            return Interval(number, number)
        return Interval(self.low, self.high, self.excluded | {number}).tight()

    def tight(self) -> Interval:
        """Return the same with bounds that are not excluded, and nothing excluded outside of them."""
        low, high, excluded = self.low, self.high, self.excluded
        if not excluded:
            return self
        while low is not None and low in excluded:
            low += 1
        while high is not None and high in excluded:
            high -= 1
        kept = frozenset(n for n in excluded if (low is None or n > low) and (high is None or n < high))
        return Interval(low, high, kept)

    @property
    def is_empty(self) -> bool:
        return self.low is not None and self.high is not None and self.low > self.high

    def moved(self, distance: int) -> Interval:
        return Interval(
            None if self.low is None else self.low + distance,
            None if self.high is None else self.high + distance,
            frozenset(n + distance for n in self.excluded),
        )

    def from_on(self, least: int) -> Interval:
        """Return what is known as far as thresholds from one on ask for it: the same for all that answer them alike."""
        if self.high is not None and self.high < least:
            return Interval(None, least - 1)
        low = None if self.low is None or self.low < least else self.low
        return Interval(low, self.high, frozenset(n for n in self.excluded if n >= least))

    def up_to(self, most: int) -> Interval:
        """Return what is known as far as thresholds up to one ask for it: the same for all that answer them alike."""
        if self.low is not None and self.low > most:
            return Interval(most + 1)
        is_open = self.high is None or self.high > most or (self.high == most and self.low != most)
        high = None if is_open else self.high
        return Interval(self.low, high, frozenset(n for n in self.excluded if n <= most))

    def clipped(self, window: int) -> Interval:
        """Return what is known as far as thresholds inside a window ask for it."""
        low, high = self.low, self.high
        low = None if low is None or low < -window else min(low, window)
        high = None if high is None or high > window else max(high, -window)
        return Interval(low, high, frozenset(n for n in self.excluded if -window <= n <= window))


ANYTHING = Interval()
"""Nothing is known."""
