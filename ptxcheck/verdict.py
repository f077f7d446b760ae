"""Verdicts: what is known of one property of one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class VerdictKind(Enum):
    """The five answers."""

    PROVED = "proved"
    """Holds for every trip count and every schedule under the stated launch."""
    PROVED_BOUNDED = "proved-bounded"
    """Holds for every schedule up to the stated trip counts."""
    ASSUMES = "assumes"
    """Holds if the listed facts about the host hold."""
    VIOLATED = "violated"
    UNKNOWN = "unknown"


SEVERITY: tuple[VerdictKind, ...] = (
    VerdictKind.VIOLATED, VerdictKind.UNKNOWN, VerdictKind.ASSUMES, VerdictKind.PROVED_BOUNDED, VerdictKind.PROVED,
)  # fmt: skip
"""From bad to good: a kernel's answer is the first that any of its properties has."""


class Openness(Enum):
    """What keeps a property from being plainly proved or violated, and so what would settle it."""

    CONDITIONAL = "conditional-on-values"
    """It holds for some numbers that the host passes: the conditions are listed (`assumes`)."""
    NOT_DECIDED = "not-decided"
    """Something was not followed, or a limit was met (`unknown`)."""
    BEHIND_FAILURE = "behind-failure"
    """Another property fails in a way that leaves no order to judge this one by (`unknown`)."""


class Need(Enum):
    """What of the user's would decide what is open; `explain.advice` has the options."""

    NOTHING = "nothing"
    """No option: the code itself is not followed here."""
    BLOCK = "block"
    BLOCK_OR_TIME = "block-or-time"
    CLUSTER = "cluster"
    TIME = "time"
    VALUES = "values"
    """Numbers that the host passes."""


class Property(Enum):
    """What is decided of a kernel."""

    DEADLOCK_FREEDOM = "deadlock-freedom"
    PHASE_SAFETY = "phase-safety"
    TX_BALANCE = "tx-balance"
    LIFECYCLE = "lifecycle"
    DESCRIPTOR_LEGALITY = "descriptor-legality"
    """Every tensor map that the kernel makes or changes is one that the hardware can use."""
    DESCRIPTOR_RANK = "descriptor-rank-and-mode"
    """Copies give as many coordinates as such a map has dimensions, in the mode that it is for."""
    DESCRIPTOR_ORDER = "descriptor-order"
    """Every change of a tensor map is ordered before its use, and after the uses before it."""
    SLOT_SAFETY = "slot-safety"
    EXIT_SAFETY = "exit-safety"
    ACCUMULATOR_SAFETY = "accumulator-safety"
    """Registers of `wgmma` are read and written only behind a wait that covers the multiplication."""
    MATRIX_DESCRIPTORS = "matrix-descriptors"
    """Descriptors of matrices and of `tcgen05.mma` have fields that the hardware takes, and tiles of separate bytes."""
    COLLECTIVE_EXECUTION = "collective-execution"
    """Instructions of whole warps and warpgroups are executed by them."""
    TENSOR_MEMORY_ALLOCATION = "tensor-memory-allocation"
    """Tensor memory is allocated by one warp, once, and freed in every run, once, as it was allocated."""
    TENSOR_MEMORY_ACCESS = "tensor-memory-access"
    """Accesses of tensor memory lie in the columns that are allocated and the lanes that their warp reaches."""
    TENSOR_MEMORY_COMPLETION = "tensor-memory-completion"
    """One thread issues what is asynchronous in tensor memory, and it is committed or waited for."""
    DATA_RACE = "data-race"
    """No two threads of a block access a byte of shared memory, one of them writing, without a barrier between."""
    BARRIER_DIVERGENCE = "barrier-divergence"
    """All threads of a block that have not ended come to the same barriers."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a verdict is what it is, and at which point (-1: nowhere in particular)."""

    text: str
    point: int
    need: Need = Need.NOTHING
    options: tuple[str, ...] = ()
    """What the options that are needed would say, such as `n.s32 >= 1` or `block=160`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question; an unknown one is not decided unless it says otherwise."""

    property: Property
    kind: VerdictKind
    reasons: tuple[Reason, ...]
    openness: Openness | None = None

    def __post_init__(self) -> None:
        if self.openness is None and self.kind is VerdictKind.UNKNOWN:
            object.__setattr__(self, "openness", Openness.NOT_DECIDED)
