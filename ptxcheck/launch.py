"""How a kernel is launched, as far as directives, configuration or the user say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

Dim = tuple[int, int, int]
MAX_THREADS = 1024
"""Threads of a CTA at most (CUDA C++ Programming Guide, technical specifications)."""
BOUND_NAMES = {False: "`.maxntid`", True: "`__launch_bounds__`"}
"""What bounds the threads of a block, in PTX and in CUDA sources."""


class BlockOrigin(Enum):
    """Who says how many threads a block has."""

    STATED = "stated"
    """The launch: a directive that fixes it, the user, or host code."""
    BOUND = "bound"
    """`.maxntid` (`__launch_bounds__`), which only bounds it."""
    SUGGESTED = "suggested"
    """The code, by the branches that tell threads apart and the counts of barriers."""


def show_dim(dim: Dim) -> str:
    """Return a shape for people: `128×1×1`."""
    return "×".join(map(str, dim))


@dataclass(frozen=True, slots=True)
class GivenValue:
    """A number that the host passes: bytes of parameter space, or a named quantity of the contract."""

    name: str
    """As the user wrote it: `param+640`, `n`, `box_bytes(param+128)`."""
    value: int
    offset: int | None = None
    """Offset in parameter space; None for a quantity of the contract, which `name` then is."""
    size: int = 4
    """Bytes of parameter space."""


class FactOrigin(Enum):
    """Who says what is known of a parameter."""

    GIVEN = "given"
    """The user."""
    SPECIALISATION = "specialisation"
    """Triton, which compiled the kernel for such arguments and launches it with no others."""
    ASSUMPTION = "assumption"
    """The kernel's source (`tl.assume`), which is undefined for others."""
    GUARD = "guard"
    """The kernel's own test, on the way to where it is used."""


@dataclass(frozen=True, slots=True)
class ParameterFact:
    """What holds of one number in parameter space in every launch: `residue` modulo `modulus`, within bounds.

    The number is the unsigned one of its bytes.
    """

    name: str
    """As the user or the compiled kernel calls it: `param+640`, `0 (a_ptr)`."""
    offset: int
    """In parameter space."""
    size: int
    """Bytes."""
    origin: FactOrigin
    text: str
    """The condition, such as `n >= 1`."""
    modulus: int = 1
    residue: int = 0
    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """Block and cluster shape; None where nothing says. `*_is_exact` is False for upper bounds."""

    block: Dim | None = None
    block_is_exact: bool = False
    cluster: Dim | None = None
    max_threads: int | None = None
    """Upper bound of threads per block (`.maxntid`, or the exact block)."""
    given: tuple[GivenValue, ...] = ()
    """Values of kernel parameters, and of what they stand for, that the user gives."""
    facts: tuple[ParameterFact, ...] = ()
    """What else is known of kernel parameters."""
    block_from: str = ""
    """Who states the block, where that is not the kernel itself: `--launch`, `<<<>>> at ring.cu:42`."""
    cluster_from: str = ""

    @property
    def threads(self) -> int | None:
        """Exact number of threads of a block, or None."""
        if self.block is None or not self.block_is_exact:
            return None
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def cluster_size(self) -> int | None:
        """CTAs per cluster, or None when not known."""
        return None if self.cluster is None else self.cluster[0] * self.cluster[1] * self.cluster[2]
