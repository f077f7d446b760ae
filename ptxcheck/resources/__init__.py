"""What a kernel keeps on the chip, and what its main loop is limited by."""

from __future__ import annotations

from .gather import gather
from .table import (
    Balance,
    MainLoop,
    Registers,
    Resources,
    SharedUse,
    TensorAllocation,
)

__all__ = ["Balance", "MainLoop", "Registers", "Resources", "SharedUse", "TensorAllocation", "gather"]
