"""Names of cuda.h that host code uses: the encode functions, their parameters, and the enumerators."""

from __future__ import annotations

import re
from enum import IntEnum

from ptxcheck.descriptors.fields import (
    DataType,
    Interleave,
    Kind,
    L2Promotion,
    OobFill,
    Swizzle,
)

_ENTRIES = {
    "cuTensorMapEncodeTiled": Kind.TILED,
    "cuTensorMapEncodeIm2col": Kind.IM2COL,
    "cuTensorMapEncodeIm2colWide": Kind.IM2COL_WIDE,
}
MAKERS = frozenset(
    ("make_tma_copy", "make_tma_atom", "make_tma_copy_A_sm90", "make_tma_copy_B_sm90", "make_tma_copy_C_sm90")
)
"""Functions of CuTe that encode a tiled map (cute/atom/copy_traits_sm90_tma.hpp)."""
UNDERSCORE = "_"
"""CuTe's name for a mode that a slice keeps."""
HEADS = ("cuTensorMapEncode", "make_tma_copy", "make_tma_atom")
"""A file without one of these encodes no tensor map by itself."""

_ENTRY = re.compile(r"cuTensorMapEncode(?:Tiled|Im2colWide|Im2col)(?![a-z])")

PARAMETERS: dict[Kind, tuple[str, ...]] = {
    Kind.TILED: (
        "tensorMap", "tensorDataType", "tensorRank", "globalAddress", "globalDim", "globalStrides", "boxDim",
        "elementStrides", "interleave", "swizzle", "l2Promotion", "oobFill",
    ),
    Kind.IM2COL: (
        "tensorMap", "tensorDataType", "tensorRank", "globalAddress", "globalDim", "globalStrides",
        "pixelBoxLowerCorner", "pixelBoxUpperCorner", "channelsPerPixel", "pixelsPerColumn", "elementStrides",
        "interleave", "swizzle", "l2Promotion", "oobFill",
    ),
    Kind.IM2COL_WIDE: (
        "tensorMap", "tensorDataType", "tensorRank", "globalAddress", "globalDim", "globalStrides",
        "pixelBoxLowerCorner", "pixelBoxUpperCorner", "channelsPerPixel", "pixelsPerColumn", "elementStrides",
        "interleave", "mode", "swizzle", "l2Promotion", "oobFill",
    ),
}  # fmt: skip
"""Parameters in the order of cuda.h 12.8; the Python bindings return the map instead of taking it."""
PARAMETER_COUNT = {kind: len(names) for kind, names in PARAMETERS.items()}

MARKED_EXIT = re.compile(r"(?:abort|exit|_exit|terminate|__builtin_unreachable|__builtin_trap|quick_exit)")
"""Functions that do not return."""


def entry_of(name: str) -> Kind | None:
    """Return which encode function a name stands for: itself, a version of it, or its PFN_ pointer type."""
    match = _ENTRY.search(name)
    return None if match is None else _ENTRIES[match[0]]


def _enumerators() -> dict[str, int]:
    enumerations: tuple[type[IntEnum], ...] = (DataType, Interleave, Swizzle, L2Promotion, OobFill)
    names = {member.enumerator: int(member) for one in enumerations for member in one}  # type: ignore[attr-defined]
    return names | {"CU_TENSOR_MAP_IM2COL_WIDE_MODE_W": 0, "CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128": 1}


ENUMERATORS = _enumerators()
"""Values of the enumerators of cuda.h."""
