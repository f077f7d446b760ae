"""Fields that `tensormap.replace` writes, in the numbering and the units of PTX, and what the driver calls them.

PTX numbers element types and swizzles otherwise than cuda.h does: a constant of one is a wrong one of the other.
Sources: PTX ISA §9.7.9.27; cuda.h; for the unit of strides, which no document gives, the switch at CUDA 12.5 in
CUTLASS (`copy_sm90_desc.hpp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...opcodes.target import Version
from ..fields import DataType, Swizzle


class Field(Enum):
    """What one instruction replaces; the value is its modifier."""

    ADDRESS = ".global_address"
    RANK = ".rank"
    BOX = ".box_dim"
    DIM = ".global_dim"
    STRIDE = ".global_stride"
    STEP = ".element_stride"
    TYPE = ".elemtype"
    INTERLEAVE = ".interleave_layout"
    SWIZZLE = ".swizzle_mode"
    ATOMICITY = ".swizzle_atomicity"
    FILL = ".fill_mode"

    @property
    def title(self) -> str:
        """Return the name without the dot."""
        return self.value.removeprefix(".")


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A field, and which of its entries where it has one for each dimension."""

    name: str
    """Value of a `Field`."""
    index: int = 0

    @property
    def field(self) -> Field:
        """Return the field."""
        return Field(self.name)

    def __str__(self) -> str:
        """Return `box_dim[1]`, `rank`."""
        return f"{self.field.title}[{self.index}]" if self.field in INDEXED else self.field.title


INDEXED = frozenset({Field.BOX, Field.DIM, Field.STRIDE, Field.STEP})
"""Fields with one entry a dimension."""

ELEMENT_TYPES: tuple[DataType, ...] = (
    DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.INT32, DataType.UINT64, DataType.INT64,
    DataType.FLOAT16, DataType.FLOAT32, DataType.FLOAT32_FTZ, DataType.FLOAT64, DataType.BFLOAT16,
    DataType.TFLOAT32, DataType.TFLOAT32_FTZ, DataType.PACKED_16U4_ALIGN8B, DataType.PACKED_16U4_ALIGN16B,
    DataType.PACKED_16U6_ALIGN16B,
)  # fmt: skip
"""The element type of each number that PTX gives (PTX ISA §9.7.9.27, table of new_val)."""

SWIZZLES: dict[tuple[int, int], Swizzle] = {
    (0, 0): Swizzle.SWIZZLE_NONE,
    (1, 0): Swizzle.SWIZZLE_32B,
    (2, 0): Swizzle.SWIZZLE_64B,
    (3, 0): Swizzle.SWIZZLE_128B,
    (3, 1): Swizzle.SWIZZLE_128B_ATOM_32B,
    (3, 2): Swizzle.SWIZZLE_128B_ATOM_32B_FLIP_8B,
    (3, 3): Swizzle.SWIZZLE_128B_ATOM_64B,
}
"""The driver's swizzle of each pair of mode and atomicity; 96B (mode 4) has no enumerator there."""

BYTE_STRIDES_SINCE = Version(8, 5)
"""PTX of CUDA 12.5: before it a stride was given in units of 16 bytes."""


def stride_unit(version: Version) -> int:
    """Return the bytes that one unit of `global_stride` stands for."""
    return 1 if version >= BYTE_STRIDES_SINCE else 16


MODES = (Field.INTERLEAVE, Field.SWIZZLE, Field.FILL)
"""Fields that may stay zero in a map of zeros: each zero has a meaning."""


def required(rank: int) -> tuple[Slot, ...]:
    """Return the fields without which a map of zeros describes no tensor."""
    each = [Slot(field.value, i) for field in (Field.BOX, Field.DIM, Field.STEP) for i in range(rank)]
    strides = [Slot(Field.STRIDE.value, i) for i in range(rank - 1)]
    return (Slot(Field.ADDRESS.value), Slot(Field.RANK.value), *each, *strides, Slot(Field.TYPE.value))
