"""Variables in shared memory that hand numbers from some warps to others: task tables, captured arguments.

Property: a read gives the number that the latest store of an earlier epoch left, if every thread that stores has come
as far and that number is known.

Argument: all threads pass the barriers of the whole CTA in the same order, so epochs order stores and reads.

Not covered: copies, atomics and other stores; that they leave these bytes alone is assumed (`shared-table`).

Stores to a constant place in shared memory are kept with their *epoch*: how many barriers of the whole CTA the
storing thread has passed. All threads pass these barriers in the same order, so a read sees what was stored in
earlier epochs, the latest of it. A store in the epoch of the read itself leaves the value open, and so does one that
may not happen. Besides stores to constant places, those count that give each of their lanes a place of such a variable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..values.symbol import Form, Lanes, Value
from ..values.trace import SHARED_WINDOW, ThreadSet

_ENDED = 1 << 30
"""Epoch of threads that have ended."""


class ParkError(Exception):
    """Threads read a place that others may still write before the barrier that the readers have passed."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """One byte that was stored: which of the bytes of a value, and when."""

    epoch: int
    value: int | Form
    size: int
    index: int


class Table:
    """Stored bytes by place. `places` are the bytes that such stores name in the kernel's text."""

    def __init__(self, places: Iterable[int], threads: int) -> None:
        self._places = frozenset(places)
        self._threads = threads
        self._stored: dict[int, tuple[_Stored, ...]] = {}
        self._epochs: npt.NDArray[np.int64] = np.zeros(threads, dtype=np.int64)
        self.may_park = True
        """False: a read that others would have to run before gives no value."""

    def pass_barrier(self, threads: npt.NDArray[np.bool_]) -> None:
        """Note that threads have passed a barrier of the whole CTA."""
        if self._places:
            self._epochs[threads] += 1

    def end(self, threads: npt.NDArray[np.bool_]) -> None:
        """Note that threads have ended."""
        if self._places:
            self._epochs[threads] = _ENDED

    def write(self, address: int, size: int, value: Value | None, threads: npt.NDArray[np.bool_]) -> None:
        """Store a value that is the same for all the threads that store it; others, and None, are kept as unknown."""
        start = address & ~SHARED_WINDOW
        epoch = int(self._epochs[threads].max())
        known = value if isinstance(value, int) or (isinstance(value, Form) and not value.differs) else None
        for index in range(size):
            entry = _Stored(epoch, -1 if known is None else known, -1 if known is None else size, index)
            stored = self._stored.get(start + index, ())
            if entry not in stored:
                self._stored[start + index] = (*stored, entry)

    def read(
        self, address: int | Lanes, size: int, guard: ThreadSet, threads: npt.NDArray[np.bool_]
    ) -> Value | None:
        """Return what is read, None when it is not known. Raises ParkError."""
        if not self._places:
            return None
        found: list[tuple[slice, int | Form]] = []
        for first in range(0, self._threads, 32):
            active = guard >> first & 0xFFFFFFFF
            if not active:
                continue
            start = self._common(address, first, active)
            if start is None or start not in self._places:
                return None
            value = self._latest(start, size, self._epoch(threads, first))
            if value is None:
                return None
            found.append((slice(first, first + 32), value))
        first_value = found[0][1]
        if all(value == first_value for _, value in found):
            return first_value
        result = np.zeros(self._threads, dtype=np.uint64)
        for where, value in found:
            if isinstance(value, Form):
                return None
            result[where] = value
        return result

    def _epoch(self, threads: npt.NDArray[np.bool_], first: int) -> int:
        """Return the epoch of the active threads of a warp; others must have come as far."""
        epoch = int(self._epochs[first : first + 32][threads[first : first + 32]].max())
        if int(self._epochs.min()) < epoch:
            if self.may_park:
                raise ParkError
            return -1
        return epoch

    def _common(self, address: int | Lanes, first: int, active: int) -> int | None:
        if isinstance(address, int):
            return address & ~SHARED_WINDOW
        held = {int(address[first + lane]) for lane in range(32) if active >> lane & 1}
        return held.pop() & ~SHARED_WINDOW if len(held) == 1 else None

    def _latest(self, start: int, size: int, epoch: int) -> int | Form | None:
        parts = [self._byte(start + index, epoch) for index in range(size)]
        first = parts[0]
        if first is None:
            return None
        if isinstance(first.value, Form):
            same = all(p is not None and p.value == first.value and p.index == n for n, p in enumerate(parts))
            return first.value if same and first.size == size else None
        value = 0
        for index, part in enumerate(parts):
            if part is None or isinstance(part.value, Form):
                return None
            value |= (part.value >> 8 * part.index & 0xFF) << 8 * index
        return value

    def _byte(self, place: int, epoch: int) -> _Stored | None:
        """Return what a byte holds in an epoch; None when unknown: never stored, or stored twice or in it."""
        stored = self._stored.get(place, ())
        if any(each.epoch == epoch for each in stored):
            return None
        earlier = [each for each in stored if each.epoch < epoch]
        if not earlier:
            return None
        last = max(each.epoch for each in earlier)
        latest = {each for each in earlier if each.epoch == last}
        only = latest.pop()
        return only if not latest and only.size > 0 else None
