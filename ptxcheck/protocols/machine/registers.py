"""Registers of all threads of a CTA: a value for each set of threads that wrote it together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...ir import Register
from .lanes import as_lanes, opaque, settle
from .symbol import Form, Lanes, Value
from .trace import ThreadSet


def lanes_of(threads: ThreadSet, count: int) -> npt.NDArray[np.bool_]:
    """Return a thread set as one boolean per thread."""
    raw = np.frombuffer(threads.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(raw, bitorder="little")[:count].astype(np.bool_)


def set_of(lanes: npt.NDArray[np.bool_]) -> ThreadSet:
    """Return the threads at which a boolean array is true."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


class RegisterFile:
    """Values by register and thread. A register is a list of pieces, newest first, on disjoint threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pieces: dict[Register, list[tuple[ThreadSet, Value]]] = {}

    def write(self, register: Register, threads: ThreadSet, value: Value) -> None:
        """Give a register a value in some threads."""
        old = self._pieces.get(register, ())
        kept = [(left, v) for mask, v in old if (left := mask & ~threads)]
        self._pieces[register] = [(threads, value), *kept]

    def read(self, register: Register, threads: ThreadSet) -> Value | None:
        """Return the value in some threads, or None when none of them wrote the register."""
        pieces = self._pieces.get(register, ())
        touched = [(mask & threads, value) for mask, value in pieces if mask & threads]
        if not touched:
            return None
        first = touched[0][1]
        if len(touched) == 1 or (
            not isinstance(first, np.ndarray)
            and all(not isinstance(v, np.ndarray) and v == first for _, v in touched)
        ):
            return self._narrow(first, touched[0][0]) if len(touched) == 1 else first
        return self._merge(touched)

    def _narrow(self, value: Value, threads: ThreadSet) -> Value:
        """Return the uniform number when the threads that matter all hold the same one."""
        if not isinstance(value, np.ndarray):
            return value
        held = value[lanes_of(threads, self._threads)]
        settled = settle(held)
        return settled if isinstance(settled, int) else value

    def _merge(self, pieces: list[tuple[ThreadSet, Value]]) -> Value:
        if any(isinstance(value, Form) for _, value in pieces):
            return opaque("merge", *(part for mask, value in pieces for part in (hex(mask), value)))
        merged: Lanes = np.zeros(self._threads, dtype=np.uint64)
        for mask, value in pieces:
            if not isinstance(value, Form):
                lanes = lanes_of(mask, self._threads)
                merged[lanes] = as_lanes(value, self._threads)[lanes]
        return merged
