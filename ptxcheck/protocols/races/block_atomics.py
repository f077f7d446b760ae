"""Atomic operations of many lanes in a run with numbers, one after the other.

Property: `changed` leaves in memory what the operations leave in the order of the lanes, and gives what each found.

Argument: each lane loads, computes by the definition of the PTX ISA (9.7.13.2), and stores, before the next one does.

Not covered: half-precision and packed types, vectors: None, and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from ...cfg.optypes import typing_of
from ...ir import Instruction
from .lane_floats import decoded, encoded
from .lane_integers import Lanes


class Memory(Protocol):
    """Bytes that can be loaded and stored."""

    def load(self, offsets: Lanes, size: int, /) -> Lanes | None:
        """Return what lies there."""

    def store(self, offsets: Lanes, size: int, values: Lanes | None, /) -> None:
        """Store numbers."""


_FLOATS = frozenset({".f32", ".f64"})
_INTEGERS = frozenset({".u32", ".s32", ".u64", ".s64", ".b32", ".b64"})
Update = Callable[[int, Sequence[int]], int]

_UPDATES: Mapping[str, Update] = {
    ".add": lambda old, given: old + given[0],
    ".and": lambda old, given: old & given[0],
    ".or": lambda old, given: old | given[0],
    ".xor": lambda old, given: old ^ given[0],
    ".exch": lambda old, given: given[0],
    ".cas": lambda old, given: given[1] if old == given[0] else old,
    ".inc": lambda old, given: 0 if old >= given[0] else old + 1,
    ".dec": lambda old, given: given[0] if old == 0 or old > given[0] else old - 1,
    ".min": lambda old, given: min(old, given[0]),
    ".max": lambda old, given: max(old, given[0]),
}


def changed(
    instruction: Instruction, memory: Memory, offsets: Lanes, size: int, given: Sequence[Lanes]
) -> Lanes | None:
    """Execute an atomic operation in lanes, one after the other; None where that is not followed."""
    typing = typing_of(instruction.operation)
    name = next((each for each in _UPDATES if typing.has(each)), None)
    if name is None or not typing.types or typing.has(".v2") or typing.has(".v4"):
        return None
    type_ = typing.types[0]
    if type_ not in _INTEGERS and not (type_ in _FLOATS and name == ".add"):
        return None
    update, signed = _UPDATES[name], typing.signed and name in (".min", ".max")
    half, mask = 1 << (8 * size - 1), (1 << 8 * size) - 1

    def read(value: int) -> int:
        value &= mask
        return value - 2 * half if signed and value & half else value

    before = memory.load(offsets, size)
    if before is None:
        return None
    old, numbers = before.tolist(), [each.tolist() for each in given]
    now: dict[int, int] = {}
    for lane, place in enumerate(offsets.tolist()):
        last = old[lane] = now.get(place, old[lane])
        if type_ in _FLOATS:
            terms = np.array([last], np.uint64), given[0][lane : lane + 1]
            total = decoded(terms[0], type_) + decoded(terms[1], type_)
            now[place] = int(encoded(total, type_)[0]) & mask
        else:
            now[place] = update(read(last), [read(each[lane]) for each in numbers]) & mask
    places, results = np.array([*now], np.uint64), np.array([*now.values()], np.uint64)
    memory.store(places, size, results)
    return np.array(old, np.uint64)


__all__ = ["changed"]
