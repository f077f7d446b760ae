"""What strands meet at besides mbarriers: counted barriers by name, and the registers of a CTA.

Each kind of barrier is a class of its own, so that names of two kinds are never equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class NamedBarrier:
    """`barrier.cta` of a number."""

    cta: int
    number: int


@dataclass(frozen=True, slots=True)
class ClusterBarrier:
    """`barrier.cluster`: the one of the whole cluster."""


@dataclass(frozen=True, slots=True)
class WarpBarrier:
    """Lanes of a warp that come to an instruction of the warp together."""

    cta: int
    warp: int
    event: int
    """Number of the event in the trace of the CTA."""
    lanes: int = 0
    """Those that name one mask, as bits, where others name another one; 0 for all that come together."""


@dataclass(frozen=True, slots=True)
class DivergentWarpBarrier:
    """Lanes of a mask that come to an operation of the warp at different times."""

    cta: int
    warp: int
    operation: str
    mask: int


@dataclass(frozen=True, slots=True)
class LockstepBarrier:
    """Lanes that are taken to come out of a wait together, because they came to it together."""

    cta: int
    warp: int
    event: int


@dataclass(frozen=True, slots=True)
class HaltPoint:
    """Where lanes stop that are followed no further: nobody passes it."""

    cta: int
    warp: int
    lanes: int


CountedBarrier: TypeAlias = (
    NamedBarrier | ClusterBarrier | WarpBarrier | DivergentWarpBarrier | LockstepBarrier | HaltPoint
)
"""What counts the threads that arrive."""


@dataclass(frozen=True, slots=True)
class RegisterBudget:
    """The registers of a CTA, which `setmaxnreg` takes from and gives back to."""

    cta: int


def concerns(name: CountedBarrier, cta: int) -> bool:
    """Tell whether threads of a CTA take part in a counted barrier of all threads."""
    return isinstance(name, ClusterBarrier) or name.cta == cta
