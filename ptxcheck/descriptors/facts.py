"""What follows from a tensor map: bytes of a copy, shared memory it fills, alignment, swizzle.

The bytes of a copy are counted as cuda.h does, each box extent divided by its element stride and rounded up; the
driver's own size check rounds down (docs/tensor-maps.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ptxcheck.descriptors.constraints import load
from ptxcheck.descriptors.fields import DataType
from ptxcheck.descriptors.swizzle import Pattern, alignment, pattern
from ptxcheck.descriptors.tensor_map import Im2colMap, Im2colWideMap, TensorMap, TiledMap

PADDED_IN_SHARED = (DataType.PACKED_16U4_ALIGN16B, DataType.PACKED_16U6_ALIGN16B)
"""Types of which 16 values take 16 bytes in shared memory, padding included (PTX ISA, packed formats)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Derived figures of one map; bytes throughout. None where the map alone does not say."""

    elements: int | None
    shared_bytes: int | None
    expect_tx_bytes: int | None
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
    elements = _elements(tensor_map)
    bits = element_bits_in_shared(tensor_map.data_type)
    shared = None if elements is None else elements * bits // 8
    # what a copy of padded values counts on the barrier is in no document: not claimed
    expected = None if tensor_map.data_type in PADDED_IN_SHARED else shared
    return Facts(elements, shared, expected, alignment(tensor_map.swizzle), pattern(tensor_map.swizzle))


def _elements(tensor_map: TensorMap) -> int | None:
    match tensor_map:
        case TiledMap():
            pairs = zip(tensor_map.box_dim, tensor_map.steps, strict=True)
            return prod(-(-box // max(step, 1)) for box, step in pairs)
        case Im2colMap():
            return tensor_map.channels_per_pixel * tensor_map.pixels_per_column
        case Im2colWideMap():
            # the copy instruction adds its halo operand to the columns
            return None
