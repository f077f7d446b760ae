"""What follows from a tensor map: bytes of a copy, shared memory it fills, alignment, swizzle.

A copy brings each box extent divided by its element stride and rounded up; without interleave the first
element stride does not count. Under a swizzle each row of the box starts a span of its own, so a box
narrower than the span fills more shared memory than it has bytes. All three were measured
(docs/tensor-maps.md); the driver's own size check counts otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ptxcheck.descriptors.constraints import load
from ptxcheck.descriptors.fields import DataType, Interleave, Swizzle
from ptxcheck.descriptors.swizzle import Pattern, alignment, pattern
from ptxcheck.descriptors.tensor_map import (
    Im2colMap,
    Im2colWideMap,
    TensorMap,
    TiledMap,
)

PADDED_IN_SHARED = (DataType.PACKED_16U4_ALIGN16B, DataType.PACKED_16U6_ALIGN16B)
"""Types of which 16 values take 16 bytes in shared memory, padding included (PTX ISA, packed formats)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Derived figures of one map; bytes throughout. None where the map alone does not say."""

    row_bytes: int
    row_pitch: int
    rows: int | None
    expect_tx_bytes: int | None
    shared_bytes: int | None
    shared_alignment: int
    swizzle: Pattern | None


def element_bits(data_type: int) -> int:
    """Return the bits of one element in global memory, 0 for an unknown type."""
    return int(load().tables["element_bits"](data_type))


def element_bits_in_shared(data_type: int) -> int:
    """Return the bits of one element in shared memory, padding of packed types included."""
    return int(load().tables["shared_bits"](data_type))


def facts(tensor_map: TensorMap) -> Facts:
    """Return the derived figures of a legal map."""
    width, rows = _extent(tensor_map)
    row = width * element_bits_in_shared(tensor_map.data_type) // 8
    pitch = row_pitch(row, tensor_map.swizzle if tensor_map.interleave == Interleave.INTERLEAVE_NONE else 0)
    # what a copy of padded values counts on the barrier is in no document: not claimed
    silent = rows is None or tensor_map.data_type in PADDED_IN_SHARED
    return Facts(
        row_bytes=row,
        row_pitch=pitch,
        rows=rows,
        expect_tx_bytes=None if silent or rows is None else row * rows,
        shared_bytes=None if rows is None else pitch * rows,
        shared_alignment=alignment(tensor_map.swizzle),
        swizzle=pattern(tensor_map.swizzle),
    )


def row_pitch(row_bytes: int, swizzle: int) -> int:
    """Return the bytes from one row of a box to the next in shared memory."""
    return row_bytes if swizzle == Swizzle.SWIZZLE_NONE else max(row_bytes, swizzle_span(swizzle))


def swizzle_span(swizzle: int) -> int:
    """Return the bytes within which a swizzle moves its atoms; 16 without swizzle or for an unknown one."""
    return {1: 32, 2: 64, 3: 128, 4: 128, 5: 128, 6: 128}.get(swizzle, 16)


def _extent(tensor_map: TensorMap) -> tuple[int, int | None]:
    """Return the elements of one row of the box and the number of rows."""
    match tensor_map:
        case TiledMap():
            pairs = zip(tensor_map.box_dim, tensor_map.steps, strict=True)
            loaded = [-(-box // max(step, 1)) for box, step in pairs]
            thinned = tensor_map.interleave != Interleave.INTERLEAVE_NONE
            return loaded[0] if thinned else tensor_map.box_dim[0], prod(loaded[1:])
        case Im2colMap():
            return tensor_map.channels_per_pixel, tensor_map.pixels_per_column
        case Im2colWideMap():
            # the copy instruction adds its halo operand to the columns
            return tensor_map.channels_per_pixel, None
