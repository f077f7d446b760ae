"""The enumerations of a tensor map, with the values of cuda.h (CUtensorMap… of CUDA 12.0 to 13.5)."""

from __future__ import annotations

from enum import Enum, IntEnum


class Kind(Enum):
    """Which encode call makes the map."""

    TILED = "tiled"
    IM2COL = "im2col"
    IM2COL_WIDE = "im2col_wide"


class DataType(IntEnum):
    """CUtensorMapDataType; the packed types exist since CUDA 12.8."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12
    PACKED_16U4_ALIGN8B = 13
    PACKED_16U4_ALIGN16B = 14
    PACKED_16U6_ALIGN16B = 15

    @property
    def enumerator(self) -> str:
        """Return the name in cuda.h."""
        return f"CU_TENSOR_MAP_DATA_TYPE_{self.name.removeprefix('PACKED_')}"


class Interleave(IntEnum):
    """CUtensorMapInterleave."""

    INTERLEAVE_NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2

    @property
    def enumerator(self) -> str:
        """Return the name in cuda.h."""
        return f"CU_TENSOR_MAP_{self.name}"


class Swizzle(IntEnum):
    """CUtensorMapSwizzle; the modes with larger atoms exist since CUDA 12.8."""

    SWIZZLE_NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3
    SWIZZLE_128B_ATOM_32B = 4
    SWIZZLE_128B_ATOM_32B_FLIP_8B = 5
    SWIZZLE_128B_ATOM_64B = 6

    @property
    def enumerator(self) -> str:
        """Return the name in cuda.h."""
        return f"CU_TENSOR_MAP_{self.name}"


class L2Promotion(IntEnum):
    """CUtensorMapL2promotion."""

    L2_NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3

    @property
    def enumerator(self) -> str:
        """Return the name in cuda.h."""
        return f"CU_TENSOR_MAP_L2_PROMOTION_{self.name}".replace("L2_NONE", "NONE")


class OobFill(IntEnum):
    """CUtensorMapFloatOOBfill."""

    ZERO = 0
    NAN = 1

    @property
    def enumerator(self) -> str:
        """Return the name in cuda.h."""
        name = "NONE" if self == OobFill.ZERO else "NAN_REQUEST_ZERO_FMA"
        return f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{name}"


class WideMode(IntEnum):
    """CUtensorMapIm2ColWideMode."""

    W = 0
    W128 = 1


CONSTANTS: dict[str, int] = {
    member.name: int(member) for enumeration in (DataType, Interleave, Swizzle) for member in enumeration
}
"""Enumerators by name, as the constraint expressions write them."""
