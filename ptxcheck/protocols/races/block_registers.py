"""Registers of all threads of a block in a run with numbers.

Property: `read` gives what an operand is in each thread; None where some thread's number is not known.

Argument: one array a register. What a part of the threads writes is laid over what was there; a register that was never
written is 0 in the others, which PTX leaves open and programs do not read.

Not covered: special registers that change, and those of clusters: None.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache

import numpy as np

from ...cfg.special import special_name
from ...ir import (
    Component,
    FloatImmediate,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Symbol,
    SymbolOffset,
    Vector,
)
from ...launch import Dim
from .lane_exchanges import WARP, Active
from .lane_integers import Lanes, cut, number
from .layout import SharedLayout

LOCAL = 1 << 31
"""Where variables of local memory begin."""


class Registers:
    """Numbers of registers, an array of threads each; threads fill whole warps."""

    def __init__(
        self,
        block: Dim,
        inputs: Mapping[str, int],
        layout: SharedLayout,
        local: Mapping[tuple[str, int], int],
    ) -> None:
        x, y, z = block
        self.count = x * y * z
        self.padded = -(-self.count // WARP) * WARP
        self._inputs = inputs
        self._layout = layout
        self._local = local
        self._values: dict[Register, Lanes | None] = {}
        self._special = _specials(block, self.padded)

    def read(self, operand: Operand | None, width: int) -> Lanes | None:
        """Return what an operand is in all threads."""
        match operand:
            case Register():
                name = special_name(operand)
                found = self._of_special(name) if name is not None else self._values.get(operand, _ZERO)
                if found is None:
                    return None
                return cut(found, width) if width < 32 else found
            case Immediate(value=value):
                return self._spread(value, width)
            case FloatImmediate(bits=bits, width=wide):
                if width == 32 and wide == 64:
                    (bits,) = struct.unpack(
                        "<I", struct.pack("<f", *struct.unpack("<d", bits.to_bytes(8, "little")))
                    )
                return self._spread(bits, width)
            case Negated(operand=inner):
                found = self.read(inner, 1)
                return None if found is None else found ^ number(1)
            case Component():
                name = special_name(operand)
                return None if name is None else self._of_special(name)
            case Symbol():
                return self._of_symbol(operand, 0)
            case SymbolOffset(symbol=symbol, offset=offset):
                return self._of_symbol(symbol, offset)
            case Vector(elements=elements):
                return self._packed(elements, width)
            case _:
                return None

    def _spread(self, value: int, width: int) -> Lanes:
        return _constant(value & (1 << width) - 1, self.padded)

    def _of_special(self, name: str) -> Lanes | None:
        found = self._special.get(name)
        if found is None and name in self._inputs:
            found = self._special[name] = np.full(self.padded, number(self._inputs[name]))
        return found

    def _of_symbol(self, symbol: Symbol, offset: int) -> Lanes | None:
        key = (symbol.name, symbol.scope)
        placed = self._layout.starts.get(key) or self._layout.starts.get((symbol.name, 0))
        if placed is not None:
            return self._spread(placed.start + offset, 64)
        if self._local.keys() == {key}:
            return self._spread(LOCAL + offset, 64)
        return None

    def _packed(self, elements: tuple[Operand, ...], width: int) -> Lanes | None:
        part = width // len(elements)
        total = np.zeros(self.padded, np.uint64)
        for place, element in enumerate(elements):
            found = self.read(element, part)
            if found is None:
                return None
            total = total | cut(found, part) << number(place * part)
        return total

    def write(self, target: Operand, values: Lanes | None, where: Active, *, whole: bool) -> None:
        """Lay numbers over a register, in some threads; `whole` where these are all that run."""
        if not isinstance(target, Register):
            return
        if values is None or whole:
            self._values[target] = None if values is None else np.broadcast_to(values, (self.padded,))
            return
        old = self._values.get(target, _ZERO)
        self._values[target] = None if old is None else np.where(where, values, old)

    def put(self, target: Operand, values: Lanes | None, width: int, where: Active, *, whole: bool) -> None:
        """Write a result to a register, to the elements of a vector, or to a pair of a predicate and its opposite."""
        match target:
            case Vector(elements=elements):
                part = width // len(elements)
                for place, element in enumerate(elements):
                    found = None if values is None else cut(values >> number(place * part), part)
                    self.write(element, found, where, whole=whole)
            case Pair(first=first, second=second):
                self.write(first, values, where, whole=whole)
                self.write(second, None if values is None else values ^ number(1), where, whole=whole)
            case Sink():
                return
            case _:
                self.write(target, values, where, whole=whole)


_ZERO = np.zeros(1, np.uint64)


@cache
def _constant(value: int, count: int) -> Lanes:
    found = np.full(count, number(value))
    found.setflags(write=False)
    return found


def _specials(block: Dim, count: int) -> dict[str, Lanes]:
    x, y, _ = block
    threads = np.arange(count, dtype=np.uint64)
    lane = threads % number(WARP)
    one = number(1)
    below = (one << lane) - one
    upto = (one << (lane + one)) - one
    full = number((1 << WARP) - 1)
    found = {
        "%tid.x": threads % number(x), "%tid.y": threads // number(x) % number(y), "%tid.z": threads // number(x * y),
        "%laneid": lane,
        "%lanemask_eq": one << lane, "%lanemask_lt": below, "%lanemask_le": upto, "%lanemask_gt": full & ~upto,
        "%lanemask_ge": full & ~below,
    }  # fmt: skip
    for axis, extent in zip("xyz", block, strict=True):
        found[f"%ntid.{axis}"] = np.full(count, number(extent))
    return found


__all__ = ["LOCAL", "Registers"]
