"""Places in shared memory through which numbers are handed on turn by turn: the ring of a tile scheduler.

Property: a warp that reads a place in its k-th turn gets what was written there k-th, if that is known.

Argument: writes of a byte are kept in order; the turn of a warp at a place goes on with the first read after a wait.

Not covered: that schedules agree with this; it is assumed (`shared-ring`), and asked of the schedules of the run.

One thread writes a place once in each turn, others wait and read it. The machine runs one role after the other and no
schedule, so what a warp reads in its k-th turn at a place is taken to be what was written there k-th. Reads of a place
with no wait between them are of one turn. Whether the schedules of the run agree is asked afterwards (`verify`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..values.symbol import Form, Value
from ..values.trace import SHARED_WINDOW, ThreadSet
from .shared_words import ParkError

_WARP_BITS = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class _Written:
    """One byte: which of the bytes of a value, and who wrote it."""

    value: int | Form | None
    size: int
    index: int
    thread: int


class Rings:
    """What was written so far, and the turns that warps are in."""

    def __init__(self) -> None:
        self._written: dict[int, list[_Written]] = {}
        self._waits: dict[int, int] = {}
        self._turns: dict[tuple[int, int], tuple[int, int]] = {}
        """For a warp and a place: the turn of the latest read, and the waits of the warp before it."""

    def wait(self, threads: ThreadSet) -> None:
        """Note that threads have waited for something."""
        for warp in _warps(threads):
            self._waits[warp] = self._waits.get(warp, 0) + 1

    def write(self, address: int, size: int, value: Value | None, threads: ThreadSet) -> None:
        """Note a store of one thread; a value of several threads is not known, and None is not."""
        thread = (threads & -threads).bit_length() - 1
        is_one = isinstance(value, int) or (isinstance(value, Form) and not value.differs)
        known = value if is_one and threads.bit_count() == 1 else None
        assert known is None or isinstance(known, int | Form)
        for index in range(size):
            place = (address & ~SHARED_WINDOW) + index
            self._written.setdefault(place, []).append(_Written(known, size, index, thread))

    def read(
        self, address: int, size: int, threads: ThreadSet, *, may_park: bool
    ) -> tuple[int, int | Form] | None:
        """Return the turn that threads are in and what they read then; None when it is not known.

        Raises ParkError when it has not been written yet.
        """
        start = address & ~SHARED_WINDOW
        turns = {warp: self._turn(warp, start) for warp in _warps(threads)}
        if len(set(turns.values())) != 1:
            return None
        turn = next(iter(turns.values()))
        written = [self._written.get(start + index, []) for index in range(size)]
        if any(len(each) <= turn for each in written):
            if may_park:
                raise ParkError
            return None
        for warp in turns:
            self._turns[warp, start] = turn, self._waits.get(warp, 0)
        found = _joined([each[turn] for each in written])
        return None if found is None else (turn, found)

    def _turn(self, warp: int, start: int) -> int:
        known = self._turns.get((warp, start))
        if known is None:
            return 0
        turn, waits = known
        return turn + (self._waits.get(warp, 0) > waits)


def _joined(parts: list[_Written]) -> int | Form | None:
    """Return the number that bytes are, None when it is not known."""
    first = parts[0]
    if isinstance(first.value, Form):
        whole = all(part.value == first.value and part.index == n for n, part in enumerate(parts))
        return first.value if whole and first.size == len(parts) else None
    total = 0
    for place, part in enumerate(parts):
        if not isinstance(part.value, int):
            return None
        total |= (part.value >> 8 * part.index & 0xFF) << 8 * place
    return total


def _warps(threads: ThreadSet) -> Iterator[int]:
    warp = 0
    while threads:
        if threads & _WARP_BITS:
            yield warp
        threads >>= 32
        warp += 1
