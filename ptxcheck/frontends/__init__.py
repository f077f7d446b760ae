"""How files become PTX text: finding them, reading them, compiling CUDA sources."""

from .cuda import NvccOptions
from .discover import (
    HOST_SUFFIXES,
    STANDARD_INPUT_NAME,
    Input,
    InputKind,
    discover,
    is_empty_cache,
    is_excluded,
)
from .kernel_caches import KERNEL_CACHES
from .launching_files import launching_files
from .load import Loaded, compiler_state, load
from .objects import with_embedded

__all__ = [
    "HOST_SUFFIXES",
    "KERNEL_CACHES",
    "STANDARD_INPUT_NAME",
    "Input",
    "InputKind",
    "Loaded",
    "NvccOptions",
    "compiler_state",
    "discover",
    "is_empty_cache",
    "is_excluded",
    "launching_files",
    "load",
    "with_embedded",
]
