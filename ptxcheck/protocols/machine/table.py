"""Tables in shared memory: constants that a kernel stores and other warps read, as compilers hand out tasks.

A location has the sequence of constants that were stored to it, in program order of the thread that stored them.
The n-th read of a warp sees the n-th of them: writer and readers take turns. That is an assumption of the run
that reads (`shared-table`); slot safety is what shows that reads and writes are ordered at all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .symbol import Lanes
from .trace import SHARED_WINDOW, ThreadSet


class ParkError(Exception):
    """Threads read a location of a table before any constant was stored there: others have to run first."""


class Table:
    """Constants by location. `places` are the bytes that stores of constants name in the kernel's text."""

    def __init__(self, places: Iterable[int], threads: int) -> None:
        self._places = frozenset(places)
        self._threads = threads
        self._written: dict[int, list[int]] = {}
        self._read: dict[tuple[int, int], int] = {}

    def write(self, address: int, size: int, value: int) -> None:
        """Store the bytes of a constant."""
        start = address & ~SHARED_WINDOW
        for index in range(size):
            self._written.setdefault(start + index, []).append(value >> 8 * index & 0xFF)

    def read(self, address: int | Lanes, size: int, guard: ThreadSet) -> int | Lanes | None:
        """Return what each warp reads, None when it is no location of the table. Raises ParkError."""
        if not self._places:
            return None
        result = np.zeros(self._threads, dtype=np.uint64)
        for first in range(0, self._threads, 32):
            active = guard >> first & 0xFFFFFFFF
            if not active:
                continue
            start = self._common(address, first, active)
            if start is None or start not in self._places:
                return None
            result[first : first + 32] = self._next(start, size, first)
        return result

    def _common(self, address: int | Lanes, first: int, active: int) -> int | None:
        if isinstance(address, int):
            return address & ~SHARED_WINDOW
        held = {int(address[first + lane]) for lane in range(32) if active >> lane & 1}
        return held.pop() & ~SHARED_WINDOW if len(held) == 1 else None

    def _next(self, start: int, size: int, warp: int) -> int:
        turn = self._read.get((start, warp), 0)
        value = 0
        for index in range(size):
            stored = self._written.get(start + index, ())
            if len(stored) <= turn:
                raise ParkError
            value |= stored[turn] << 8 * index
        self._read[(start, warp)] = turn + 1
        return value

    def snapshot(self) -> tuple[dict[int, list[int]], dict[tuple[int, int], int]]:
        """Return the state, for `restore`."""
        return {place: list(values) for place, values in self._written.items()}, dict(self._read)

    def restore(self, state: tuple[dict[int, list[int]], dict[tuple[int, int], int]]) -> None:
        """Go back to a state."""
        written, read = state
        self._written = {place: list(values) for place, values in written.items()}
        self._read = dict(read)
