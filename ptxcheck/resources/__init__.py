"""What a kernel keeps on the chip, and what its main loop is limited by."""

from __future__ import annotations

from .gather import gather
from .occupancy import MACHINES, Occupancy, occupancy
from .table import (
    Balance,
    BankConflict,
    MainLoop,
    Registers,
    Resources,
    SharedUse,
    TensorAllocation,
)

__all__ = [
    "MACHINES",
    "Balance",
    "BankConflict",
    "MainLoop",
    "Occupancy",
    "Registers",
    "Resources",
    "SharedUse",
    "TensorAllocation",
    "gather",
    "occupancy",
]
