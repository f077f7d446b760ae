"""Kernels as Triton compiles them: `ptxcheck.triton.install()`."""

from .listener import (
    KernelError,
    KernelWarning,
    NotSupportedError,
    install,
)

__all__ = ["KernelError", "KernelWarning", "NotSupportedError", "install"]
