"""Contents of global memory for runs, and which conditions on data each keeps.

Property: of the elements that a kernel loads from one array, `RISING` gives each a larger number than the one before,
as far as the bound has as many numbers; `FALLING` the reverse; `SPREAD` as `RISING`, with gaps. All are below the
bound.

Argument: numbers are made of ranks among the places that were loaded, array by array; where the bound has fewer
numbers, ranks are scaled, so that their order stays.

Not covered: places that only a run with other contents loads: they have the rank of the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto

import numpy as np

from .block_memory import Contents
from .lane_integers import Lanes, number

_MIXING = 2_654_435_761
_ARRAY = 32
"""Bits of an address that are within an array."""


class Data(Enum):
    """Kinds of contents."""

    ZEROS = auto()
    RISING = auto()
    FALLING = auto()
    SPREAD = auto()
    """Rising, with gaps between."""
    MIXED = auto()
    """In no order, some alike."""
    BITS = auto()
    """Zeros and ones in no order."""


WRITTEN: Mapping[Data, str] = {
    Data.ZEROS: "are zeros",
    Data.RISING: "rise",
    Data.FALLING: "fall",
    Data.SPREAD: "rise, with gaps between",
    Data.MIXED: "are in no order",
    Data.BITS: "are zeros and ones",
}
"""How it is said of the numbers in global memory that they are of a kind."""


def zeros(places: Lanes) -> Lanes:
    """Give zeros: numbers in both orders, none of them a flag that is set."""
    return np.zeros_like(places)


class Ranks:
    """Ranks of elements among those that were loaded of the same array."""

    def __init__(self, loaded: Sequence[Lanes], element: int) -> None:
        self._loaded = np.unique(np.concatenate([*loaded, np.zeros(0, np.uint64)]))
        self._most = 1 << 8 * min(element, 4) - 1
        shift = number(_ARRAY - element.bit_length() + 1)
        self._shift = shift
        self._arrays, starts, counts = np.unique(self._loaded >> shift, return_index=True, return_counts=True)
        self._starts, self._counts = starts.astype(np.uint64), counts.astype(np.uint64)

    def _of(self, places: Lanes) -> tuple[Lanes, Lanes]:
        """Return ranks, and how many elements each array has."""
        if not len(self._arrays):
            return np.zeros_like(places), np.ones_like(places)
        array = np.minimum(np.searchsorted(self._arrays, places >> self._shift), len(self._arrays) - 1)
        start, count = self._starts[array], self._counts[array]
        place = np.searchsorted(self._loaded, places).astype(np.uint64)
        rank = np.minimum(np.maximum(place, start) - start, count - number(1))
        return rank, count

    def contents(self, data: Data, bound: int) -> Contents | None:
        """Return contents of a kind, None where there are none below a bound."""
        if data is Data.SPREAD and len(self._counts) and 2 * int(self._counts.max()) > bound:
            return None
        make = _MAKE[data]

        def contents(places: Lanes) -> Lanes:
            rank, count = self._of(places)
            return make(rank, count, number(bound))

        return contents

    def scaled(self, shift: int) -> Contents | None:
        """Return ranks times a power of two, None where they do not fit in an element."""
        if len(self._counts) and int(self._counts.max()) << shift > self._most:
            return None

        def contents(places: Lanes) -> Lanes:
            rank, _ = self._of(places)
            return np.left_shift(rank, np.uint64(shift))

        return contents


def _rising(rank: Lanes, count: Lanes, bound: Lanes) -> Lanes:
    return np.where(count > bound, rank * bound // count, rank)


_MAKE: Mapping[Data, Callable[[Lanes, Lanes, Lanes], Lanes]] = {
    Data.ZEROS: lambda rank, count, bound: rank * number(0),
    Data.RISING: _rising,
    Data.FALLING: lambda rank, count, bound: (
        np.minimum(count, bound) - number(1) - _rising(rank, count, bound)
    ),
    Data.SPREAD: lambda rank, count, bound: rank * number(2) + number(1),
    Data.MIXED: lambda rank, count, bound: (rank * number(_MIXING) >> number(9)) % np.minimum(count, bound),
    Data.BITS: lambda rank, count, bound: rank * number(_MIXING) >> number(11) & number(1),
}

__all__ = ["WRITTEN", "Data", "Ranks", "zeros"]
