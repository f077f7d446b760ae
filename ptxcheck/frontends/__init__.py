"""How files become PTX text: finding them, reading them, compiling CUDA sources."""

from .cuda import NvccOptions
from .discover import HOST_SUFFIXES, STANDARD_INPUT_NAME, Input, InputKind, discover
from .load import Loaded, compiler_state, load
from .objects import with_embedded

__all__ = [
    "HOST_SUFFIXES",
    "STANDARD_INPUT_NAME",
    "Input",
    "InputKind",
    "Loaded",
    "NvccOptions",
    "compiler_state",
    "discover",
    "load",
    "with_embedded",
]
