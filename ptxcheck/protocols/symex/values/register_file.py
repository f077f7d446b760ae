"""Registers of all threads of a CTA: a value for each set of threads that wrote it together.

Property: a read gives what each of the threads wrote last, or names the sets of threads that hold different symbols.

Argument: the pieces of a register are on disjoint sets of threads; a write cuts its threads out of the older ones.

Not covered: threads that have not written the register: their numbers in an array mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ....ir import Register
from .lane_arithmetic import as_lanes, settle
from .symbol import Form, Lanes, Value
from .trace import ThreadSet

Piece = tuple[ThreadSet, Value]


@lru_cache(maxsize=4096)
def lanes_of(threads: ThreadSet, count: int) -> npt.NDArray[np.bool_]:
    """Return a thread set as one boolean per thread: to be read, as the same sets come again and again."""
    raw = np.frombuffer(threads.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
    lanes = np.unpackbits(raw, bitorder="little")[:count].astype(np.bool_)
    lanes.setflags(write=False)
    return lanes


def set_of(lanes: npt.NDArray[np.bool_]) -> ThreadSet:
    """Return the threads at which a boolean array is true."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


class SplitError(Exception):
    """Threads that read a register together hold different symbols, or symbols and numbers."""

    def __init__(self, parts: tuple[ThreadSet, ...]) -> None:
        super().__init__("a register holds different symbols in different threads")
        self.parts = parts
        """Disjoint sets of threads, each with one value."""


class RegisterFile:
    """Values by register and thread. A register is a list of pieces, newest first, on disjoint threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pieces: dict[Register, list[Piece]] = {}
        self.missing: ThreadSet = 0
        """Threads that have read registers which others have written, and they have not; to be reset."""

    def write(self, register: Register, threads: ThreadSet, value: Value) -> None:
        """Give a register a value in some threads."""
        old = self._pieces.get(register)
        if old is None:
            self._pieces[register] = [(threads, value)]
            return
        kept = [(left, v) for mask, v in old if (left := mask & ~threads)]
        self._pieces[register] = [(threads, value), *kept]

    def snapshot(self, register: Register) -> list[Piece] | None:
        """Return all pieces of a register, for `restore`."""
        return self._pieces.get(register)

    def restore(self, register: Register, pieces: list[Piece] | None) -> None:
        """Give a register the pieces that it had."""
        if pieces is None:
            self._pieces.pop(register, None)
        else:
            self._pieces[register] = pieces

    def contents(self) -> dict[Register, list[Piece]]:
        """Return all pieces of all registers, for `replace`."""
        return self._pieces

    def replace(self, contents: Mapping[Register, Sequence[Piece]]) -> None:
        """Give all registers the pieces of some contents, and no others."""
        self._pieces = {register: list(pieces) for register, pieces in contents.items()}

    def covers(self, register: Register, threads: ThreadSet) -> bool:
        """Tell whether all of some threads have written a register that some of them have written."""
        left = threads
        for mask, _ in self._pieces.get(register, ()):
            left &= ~mask
        return left in (0, threads)

    def unwritten(self, register: Register, threads: ThreadSet) -> ThreadSet:
        """Return those of some threads that have not written a register, none where nobody has."""
        left = threads
        for mask, _ in self._pieces.get(register, ()):
            left &= ~mask
        return left if register in self._pieces else 0

    def erase(self, register: Register, threads: ThreadSet) -> None:
        """Take the value of a register from some threads."""
        old = self._pieces.get(register)
        if old is not None:
            self._pieces[register] = [(left, v) for mask, v in old if (left := mask & ~threads)]

    def pieces(self, register: Register, threads: ThreadSet) -> list[Piece]:
        """Return the values in some threads with the threads that hold each; threads without one are left out."""
        return [(held, v) for mask, v in self._pieces.get(register, ()) if (held := mask & threads)]

    def read(self, register: Register, threads: ThreadSet) -> Value | None:
        """Return the value in some threads, or None when none of them wrote the register.

        Raises SplitError when the threads hold different symbols.
        """
        pieces = self._pieces.get(register)
        if not pieces:
            return None
        mask, value = pieces[0]
        if not threads & ~mask:
            return value if not isinstance(value, np.ndarray) else self._narrow(value, threads)
        touched = [(held, v) for mask, v in pieces if (held := mask & threads)]
        if not touched:
            return None
        self.missing |= threads & ~_union(touched)
        first = touched[0][1]
        if len(touched) == 1:
            return self._narrow(first, touched[0][0])
        if not isinstance(first, np.ndarray) and all(
            not isinstance(v, np.ndarray) and v == first for _, v in touched
        ):
            return first
        return self._merge(touched)

    def _narrow(self, value: Value, threads: ThreadSet) -> Value:
        """Return the uniform number when the threads that matter all hold the same one."""
        if not isinstance(value, np.ndarray):
            return value
        held = value[lanes_of(threads, self.threads)]
        settled = settle(held)
        return settled if isinstance(settled, int) else value

    def _merge(self, pieces: list[Piece]) -> Value:
        if any(isinstance(value, Form) for _, value in pieces):
            raise SplitError(_parts(pieces))
        merged: Lanes = np.zeros(self.threads, dtype=np.uint64)
        for mask, value in pieces:
            if not isinstance(value, Form):
                lanes = lanes_of(mask, self.threads)
                merged[lanes] = as_lanes(value, self.threads)[lanes]
        return self._narrow(merged, _union(pieces))


def _parts(pieces: list[Piece]) -> tuple[ThreadSet, ...]:
    """Return the threads of each symbol, and those of all numbers together."""
    found: dict[Form | None, ThreadSet] = {}
    for mask, value in pieces:
        key = value if isinstance(value, Form) else None
        found[key] = found.get(key, 0) | mask
    return tuple(found.values())


def _union(pieces: list[Piece]) -> ThreadSet:
    total: ThreadSet = 0
    for mask, _ in pieces:
        total |= mask
    return total
