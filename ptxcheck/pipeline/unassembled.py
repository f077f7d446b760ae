"""Kernels that call what cannot be assembled: nothing is decided of them, either.

Other kernels of such a file keep their verdicts: each could be assembled by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..cfg.calls import called_from
from ..ir import Module
from ..results import KernelResult, Remark
from .verdict_table import undecided


def without_verdict(kernel: KernelResult, module: Module, flaws: Mapping[str, Remark]) -> KernelResult:
    """Return what a kernel gave, undecided where it calls a function with a flaw; `flaws` are by the function."""
    table = kernel.verification
    if table is None or not flaws:
        return kernel
    why = next((flaws[name] for name in called_from(kernel.name, module) if name in flaws), None)
    return kernel if why is None else replace(kernel, verification=undecided(table, why), complete=False)
