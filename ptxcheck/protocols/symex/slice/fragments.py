"""Which bytes a `wmma` load or store touches (PTX ISA, "wmma.load", "wmma.store").

Property: the bytes that a `wmma` load or store touches lie in the lines of its fragment.

Argument: shape, layout and type of the opcode give lines and their length, the stride their distance.

Not covered: strides that are not known: then all of shared memory behind the address is touched.

The warp gives one address; the lines of the matrix (rows, or columns where it is stored by columns) start every so many
elements behind it: the stride, or the length of a line where none is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ....ir import TYPE_BYTES, Instruction
from ....opcodes.op import Op
from ....opcodes.spec import Operation
from ..values.symbol import Lanes
from .layout import SHARED_BYTES

_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)")
_SMALL = {".u4": 4, ".s4": 4, ".b1": 1}
"""Bits of elements of less than a byte."""
_MOVES = frozenset({Op.WMMA_LOAD, Op.WMMA_STORE})
_EXTENTS = {"a": (0, 2), "b": (2, 1), "c": (0, 1), "d": (0, 1)}
"""Where in a shape the rows and columns of each matrix stand."""
_MATRIX = 2
"""Which part of the name of a load or store tells the matrix."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """The lines of one matrix in memory."""

    lines: int
    """How many: no more than a warp has lanes."""
    size: int
    """Bytes of a line."""
    pitch: int | None
    """Bytes from one line to the next, None when that is not known."""

    def places(self, address: int | Lanes | None, threads: int) -> tuple[Lanes | None, int]:
        """Return where the line of each lane starts, and its bytes; if that is not known, all bytes together."""
        if self.pitch is None:
            return None, SHARED_BYTES
        if address is None:
            return None, (self.lines - 1) * self.pitch + self.size
        lane = np.arange(threads, dtype=np.uint64) % 32
        return np.asarray(address, dtype=np.uint64) + lane * np.uint64(self.pitch), self.size


def fragment_of(instruction: Instruction, stride: int | None) -> Fragment | None:
    """Return what an instruction moves, None when it is no such load or store; `stride` in elements, if known."""
    operation = instruction.operation
    shape = _SHAPE.fullmatch(operation.slots.get("shape", ""))
    if operation.op not in _MOVES or shape is None:
        return None
    matrix = operation.text.split(".")[_MATRIX]
    rows, columns = (int(shape[1 + place]) for place in _EXTENTS[matrix])
    lines, length = (rows, columns) if operation.slots["layout"] == ".row" else (columns, rows)
    bits = _bits(operation)
    size = length * bits // 8
    if instruction.get("stride") is None:
        return Fragment(lines, size, size)
    return Fragment(lines, size, None if stride is None else stride * bits // 8)


def _bits(operation: Operation) -> int:
    kind = operation.slots["type"]
    return _SMALL.get(kind) or 8 * TYPE_BYTES[kind]
