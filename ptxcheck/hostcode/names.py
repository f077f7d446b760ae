"""Names of cuda.h that host code uses: the encode functions, their parameters, and the enumerators."""

from __future__ import annotations

import re
from dataclasses import dataclass
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

EXTENTS = frozenset(("dim3", "uint3"))
"""Types of the extents of grids and blocks; an extent that is not given is 1."""
CONFIGURATIONS = {
    "cudaLaunchConfig_t": ("gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs"),
    "CUlaunchConfig": (
        "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes", "hStream",
        "attrs", "numAttrs",
    ),
}  # fmt: skip
"""Structures that describe a launch, with their members in order (driver_types.h, cuda.h)."""
ATTRIBUTES = frozenset(("cudaLaunchAttribute", "CUlaunchAttribute"))
COOPERATIVE, CLUSTER_DIMENSION, PROGRAMMATIC_SERIALIZATION = 2, 4, 6
"""Values of cudaLaunchAttributeID, which CUlaunchAttributeID shares."""
_LAUNCH_ENUMERATORS = {
    "cudaLaunchAttributeIgnore": 0,
    "cudaLaunchAttributeAccessPolicyWindow": 1,
    "cudaLaunchAttributeCooperative": COOPERATIVE,
    "cudaLaunchAttributeSynchronizationPolicy": 3,
    "cudaLaunchAttributeClusterDimension": CLUSTER_DIMENSION,
    "cudaLaunchAttributeClusterSchedulingPolicyPreference": 5,
    "cudaLaunchAttributeProgrammaticStreamSerialization": PROGRAMMATIC_SERIALIZATION,
    "cudaLaunchAttributeProgrammaticEvent": 7,
    "cudaLaunchAttributePriority": 8,
    "CU_LAUNCH_ATTRIBUTE_IGNORE": 0,
    "CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW": 1,
    "CU_LAUNCH_ATTRIBUTE_COOPERATIVE": COOPERATIVE,
    "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY": 3,
    "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION": CLUSTER_DIMENSION,
    "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE": 5,
    "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION": PROGRAMMATIC_SERIALIZATION,
    "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT": 7,
    "CU_LAUNCH_ATTRIBUTE_PRIORITY": 8,
}


@dataclass(frozen=True, slots=True)
class Launcher:
    """Which arguments of a function that launches kernels say what."""

    kernel: int
    block: int | None = None
    """The block as one extent; None where `configuration` has it."""
    blocks: tuple[int, int, int] | None = None
    """The block as three numbers."""
    configuration: int | None = None
    first: int | None = None
    """The first argument of the kernel itself; None where they are passed by their addresses."""
    is_cooperative: bool = False


LAUNCHERS = {
    "cudaLaunchKernel": Launcher(0, block=2),
    "cudaLaunchCooperativeKernel": Launcher(0, block=2, is_cooperative=True),
    "cudaLaunchKernelExC": Launcher(1, configuration=0),
    "cudaLaunchKernelEx": Launcher(1, configuration=0, first=2),
    "cuLaunchKernel": Launcher(0, blocks=(4, 5, 6)),
    "cuLaunchCooperativeKernel": Launcher(0, blocks=(4, 5, 6), is_cooperative=True),
    "cuLaunchKernelEx": Launcher(1, configuration=0),
}
"""Functions that launch a kernel (CUDA runtime and driver API, execution control)."""
KERNEL_GETTERS = {"RawKernel": 1, "get_function": 0, "get_kernel": 0}
"""Calls of CuPy and cuda.core that give a kernel: position of its name."""
LOADERS = {
    "cuModuleGetFunction": (0, 2),
    "cuLibraryGetKernel": (0, 2),
    "cudaLibraryGetKernel": (0, 2),
    "cuKernelGetFunction": (0, 1),
    "cudaGetFuncBySymbol": (0, 1),
    "cudaGetKernel": (0, 1),
}
"""Functions that look a kernel up: where its handle goes, and its name or another handle of it."""
CUDA_FUNCTION = re.compile(r"cu(?:da)?[A-Z]\w*$")
"""Functions of the CUDA API: they change what they get the address of, and nothing else."""
LAUNCH_HEADS = (
    "<<<", "LaunchKernel", "LaunchCooperativeKernel", "RawKernel", "get_function", "LaunchConfig", "numba",
)  # fmt: skip
"""A file without one of these launches no kernel by itself."""

MARKED_EXIT = re.compile(r"(?:abort|exit|_exit|terminate|__builtin_unreachable|__builtin_trap|quick_exit)")
"""Functions that do not return."""


def entry_of(name: str) -> Kind | None:
    """Return which encode function a name stands for: itself, a version of it, or its PFN_ pointer type."""
    match = _ENTRY.search(name)
    return None if match is None else _ENTRIES[match[0]]


def _enumerators() -> dict[str, int]:
    enumerations: tuple[type[IntEnum], ...] = (DataType, Interleave, Swizzle, L2Promotion, OobFill)
    names = {member.enumerator: int(member) for one in enumerations for member in one}  # type: ignore[attr-defined]
    modes = {"CU_TENSOR_MAP_IM2COL_WIDE_MODE_W": 0, "CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128": 1}
    return names | modes | _LAUNCH_ENUMERATORS


ENUMERATORS = _enumerators()
"""Values of the enumerators of cuda.h."""
