"""Memory of one block in a run with numbers: bytes of shared memory, and global memory with made-up contents.

Property: a load gives what the last store of these bytes left, or the contents that the run began with; None where one
of them was stored with a number that the run does not know.

Argument: one array of bytes for shared memory, whose variables do not overlap; a table of the bytes of global memory
that were stored, over a function of the address for all others.

Not covered: memory that other blocks write meanwhile. The run is one in which they have not begun.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ...ir import Variable
from .lane_integers import Lanes, cut, number
from .layout import Placed, SharedLayout, in_source

BASE = 1 << 24
"""Where shared variables begin: above all numbers that sizes have, below all pointers."""
_ALIGN = 1024
_DYNAMIC = 227 * 1024
"""Dynamic shared memory that a block may have at most."""
_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

Contents = Callable[[Lanes], Lanes]
"""The numbers of elements of global memory, by their places: addresses over the bytes of an element."""


class OutsideError(Exception):
    """An access outside of all variables, or misaligned: the run breaks what the kernel asks for."""


def close_layout(variables: Mapping[tuple[str, int], Variable]) -> SharedLayout:
    """Return starts of shared variables, one behind the other with a gap; those of open size begin together."""
    found: dict[tuple[str, int], Placed] = {}
    end = BASE
    for key, variable in variables.items():
        if not variable.is_sized_elsewhere:
            size = variable.size or 0
            found[key] = Placed(in_source(variable.name), end, size)
            end += -(-size // _ALIGN) * _ALIGN + _ALIGN
    dynamic = Placed("dynamic shared memory", end, None)
    found |= {key: dynamic for key, variable in variables.items() if variable.is_sized_elsewhere}
    return SharedLayout(found)


def _end(layout: SharedLayout) -> int:
    """Return where the last variable ends."""
    ends = (each.start + (_DYNAMIC if each.size is None else each.size) for each in layout.starts.values())
    return max(ends, default=BASE) - BASE


def dynamic_offset(layout: SharedLayout) -> int | None:
    """Return where shared memory of open size begins, None where there is none."""
    return next((each.start - BASE for each in layout.starts.values() if each.size is None), None)


class SharedBytes:
    """Shared memory: its bytes, which of them are known, and which belong to a variable."""

    def __init__(self, layout: SharedLayout, dynamic: int | None = None) -> None:
        """Begin with zeros; `dynamic` is how many bytes shared memory of open size has."""
        size = -(-_end(layout) // _ALIGN) * _ALIGN + _ALIGN
        self._bytes = np.zeros(size, np.uint8)
        self._known = np.ones(size, np.bool_)
        self._has_unknown = False
        self._views = {width: self._bytes.view(type_) for width, type_ in _TYPES.items()}
        self._inside = np.zeros(size, np.bool_)
        for placed in layout.starts.values():
            start = placed.start - BASE
            self._inside[start : start + (dynamic or _DYNAMIC if placed.size is None else placed.size)] = True

    @property
    def size(self) -> int:
        """Bytes from the first variable to behind the last one."""
        return len(self._bytes)

    def offsets(self, addresses: Lanes, size: int) -> Lanes:
        """Return where in the bytes an access is; OutsideError where it is misaligned or not inside of variables."""
        addresses = addresses - number(BASE)
        if len(addresses) and int(addresses.max()) + size > len(self._bytes):
            raise OutsideError
        last = addresses + number(size - 1)
        if (addresses & number(size - 1)).any() or not (self._inside[addresses] & self._inside[last]).all():
            raise OutsideError
        return addresses

    def load(self, offsets: Lanes, size: int) -> Lanes | None:
        """Return what lies at offsets."""
        if self._has_unknown and not all(self._known[offsets + number(byte)].all() for byte in range(size)):
            return None
        found: Lanes = self._views[size][offsets // number(size)].astype(np.uint64)
        return found

    def store(self, offsets: Lanes, size: int, values: Lanes | None) -> None:
        """Store at offsets; values of None are not known."""
        self._has_unknown |= values is None
        for byte in range(size) if self._has_unknown else ():
            self._known[offsets + number(byte)] = values is not None
        if values is not None:
            self._views[size][offsets // number(size)] = values.astype(_TYPES[size])


@dataclass
class GlobalBytes:
    """Global memory: what was stored, over contents by the place of an element."""

    contents: Contents
    element: int
    """Bytes of an element."""

    def __post_init__(self) -> None:
        self._stored: dict[int, int | None] = {}
        self.loaded: list[Lanes] = []
        """The places of elements that were loaded."""

    def load(self, addresses: Lanes, size: int) -> Lanes | None:
        """Return what lies at some addresses. Raises OutsideError where they are misaligned."""
        _check_alignment(addresses, size)
        found = np.zeros(len(addresses), np.uint64)
        for place in range(size // self.element):
            shift = number(8 * self.element * place)
            found |= self._element(addresses // number(self.element) + number(place)) << shift
        return self._overlaid(addresses, size, found) if self._stored else found

    def _element(self, places: Lanes) -> Lanes:
        self.loaded.append(places)
        return cut(self.contents(places), 8 * self.element)

    def _overlaid(self, addresses: Lanes, size: int, found: Lanes) -> Lanes | None:
        for lane, address in enumerate(addresses.tolist()):
            for byte in range(size):
                if address + byte in self._stored:
                    stored = self._stored[address + byte]
                    if stored is None:
                        return None
                    kept = int(found[lane]) & ~(255 << 8 * byte)
                    found[lane] = kept | stored << 8 * byte
        return found

    def store(self, addresses: Lanes, size: int, values: Lanes | None) -> None:
        """Store numbers; None stands for those that are not known."""
        _check_alignment(addresses, size)
        numbers = [None] * len(addresses) if values is None else values.tolist()
        for address, value in zip(addresses.tolist(), numbers, strict=True):
            for byte in range(size):
                self._stored[address + byte] = None if value is None else value >> 8 * byte & 255


def _check_alignment(addresses: Lanes, size: int) -> None:
    if (addresses & number(size - 1)).any():
        raise OutsideError


__all__ = ["BASE", "Contents", "GlobalBytes", "OutsideError", "SharedBytes", "close_layout", "dynamic_offset"]
