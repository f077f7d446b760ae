"""How many CTAs an SM holds at once.

Sources: CUDA C++ Programming Guide, technical specifications by compute capability; the reserved bytes and the units of
allocation as `cudaOccupancyMaxActiveBlocksPerMultiprocessor` has them (cuda_occupancy.h). Named barriers: what Nsight
Compute reports for sm_90 (benchmarks/history/hardware_counters.md), where an SM has 64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_WARP = 32
_RESERVED = 1024
"""Bytes of shared memory that each CTA takes beside its own."""
_UNIT = 128
_QUARTERS, _REGISTERS_OF_QUARTER, _REGISTER_UNIT = 4, 16384, 256


@dataclass(frozen=True, slots=True)
class Machine:
    """What an SM has."""

    warps: int
    ctas: int
    shared: int
    barriers: int | None = None
    """Named barriers of all CTAs together, None where that is not known."""


_LARGE = Machine(64, 32, 233472)
MACHINES: Mapping[int, Machine] = {
    80: Machine(64, 32, 167936), 86: Machine(48, 16, 102400), 89: Machine(48, 24, 102400),
    90: Machine(64, 32, 233472, 64), 100: _LARGE, 103: _LARGE,
}  # fmt: skip
"""By architecture."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """CTAs of a kernel that an SM holds at once, at most: by each of its limits. None where it is not known."""

    warps: int
    """Of one CTA."""
    by_warps: int
    by_shared: int
    by_registers: int | None
    by_barriers: int | None
    percent: float
    """Warps of so many CTAs, of all that an SM may have."""

    @property
    def ctas(self) -> int:
        """Return how many CTAs there are at most."""
        known = (self.by_warps, self.by_shared, self.by_registers, self.by_barriers)
        return min(each for each in known if each is not None)


def occupancy(
    arch: int, threads: int, shared: int, registers: int | None = None, barriers: int = 0
) -> Occupancy | None:
    """Return what fits an SM: CTAs of so many threads, bytes, registers a thread (if known), and named barriers."""
    machine = MACHINES.get(arch)
    if machine is None or threads <= 0:
        return None
    warps = -(-threads // _WARP)
    taken = -(-(shared + _RESERVED) // _UNIT) * _UNIT
    by_registers = None
    if registers is not None:
        of_warp = -(-max(registers, 1) * _WARP // _REGISTER_UNIT) * _REGISTER_UNIT
        by_registers = _QUARTERS * (_REGISTERS_OF_QUARTER // of_warp) // warps
    by_warps, by_shared = min(machine.warps // warps, machine.ctas), machine.shared // taken
    by_barriers = machine.barriers // barriers if machine.barriers and barriers else None
    known = (by_warps, by_shared, by_registers, by_barriers)
    ctas = min(each for each in known if each is not None)
    return Occupancy(
        warps, by_warps, by_shared, by_registers, by_barriers, 100.0 * ctas * warps / machine.warps
    )
