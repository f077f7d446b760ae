"""How files become PTX text: finding them, reading them, compiling CUDA sources."""

from .cuda import NvccOptions
from .discover import HOST_SUFFIXES, Input, InputKind, discover
from .load import Loaded, compiler_state, load

__all__ = ["HOST_SUFFIXES", "Input", "InputKind", "Loaded", "NvccOptions", "compiler_state", "discover", "load"]
