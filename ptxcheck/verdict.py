"""Verdicts: what is known of one property of one kernel."""

from __future__ import annotations

from collections.abc import Mapping
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


class Evidence(Enum):
    """What a verdict is shown by; what it takes for granted besides is another matter (`AssumptionSource`)."""

    FOR_ALL = "for-all"
    """Every schedule and every number of rounds."""
    BOUNDED = "bounded"
    """Every schedule of the runs that were made."""
    COUNTEREXAMPLE = "counterexample"
    """A run that goes wrong."""
    UNDECIDED = "undecided"


EVIDENCE_OF: Mapping[VerdictKind, Evidence] = {
    VerdictKind.PROVED: Evidence.FOR_ALL, VerdictKind.ASSUMES: Evidence.FOR_ALL,
    VerdictKind.PROVED_BOUNDED: Evidence.BOUNDED, VerdictKind.VIOLATED: Evidence.COUNTEREXAMPLE,
    VerdictKind.UNKNOWN: Evidence.UNDECIDED,
}  # fmt: skip
"""What a verdict of a kind is shown by where it does not say: one that assumes something may be bounded, too."""


WEAKNESS: tuple[Evidence, ...] = (
    Evidence.COUNTEREXAMPLE, Evidence.UNDECIDED, Evidence.BOUNDED, Evidence.FOR_ALL,
)  # fmt: skip
"""A kernel's evidence is the first that any of its properties has."""


class AssumptionSource(Enum):
    """Who or what is to make an assumption true."""

    HOST = "host"
    """Numbers that the host passes: sizes, trip counts, boxes of tensor maps."""
    LAUNCH = "launch"
    """The block, the cluster and the grid."""
    HARDWARE = "hardware"
    """An axiom of the hardware profile, or what an instruction does where PTX leaves it open."""
    ENVIRONMENT = "environment"
    """What memory holds and indices into it are, where that is not followed."""


class AssumptionKind(Enum):
    """What an assumption of a run is about; each kind has one source."""

    def __init__(self, label: str, source: AssumptionSource) -> None:
        self._value_ = label
        self.source = source

    BLOCK = "block", AssumptionSource.LAUNCH
    """The block has all threads that it may have, or that the code suggests."""
    WHOLE_CLUSTERS = "cluster", AssumptionSource.LAUNCH
    """Work comes in whole clusters."""
    SIZE = "size", AssumptionSource.HOST
    """No size is empty or negative."""
    GRID = "grid", AssumptionSource.HOST
    """Every CTA has work: who computes the grid knows the sizes."""
    STRIDE = "stride", AssumptionSource.HOST
    """No stride is passed without its array."""
    ROUNDS = "rounds", AssumptionSource.HOST
    """Two loops that hand over to each other go round equally often."""
    ALIKE = "alike", AssumptionSource.HOST
    """Parameters that belong together are equal."""
    AXIOM = "axiom", AssumptionSource.HARDWARE
    """A row of the table of axioms."""
    ELECT = "elect", AssumptionSource.HARDWARE
    """Which lane `elect.sync` chooses."""
    MEMBER_MASK = "member-mask", AssumptionSource.HARDWARE
    ACTIVE_LANES = "active-lanes", AssumptionSource.HARDWARE
    TRIES = "tries", AssumptionSource.HARDWARE
    """A poll succeeds in the end."""
    CONSTANTS = "constants", AssumptionSource.ENVIRONMENT
    """Constant memory holds what the module initialises it with."""
    GLOBAL_LOAD = "global-load", AssumptionSource.ENVIRONMENT
    """Numbers in global memory do not change while the kernel runs."""
    GLOBAL_SCALE = "global-scale", AssumptionSource.ENVIRONMENT
    """The same of floating-point numbers that are compared with zero."""
    SHARED_LOAD = "shared-load", AssumptionSource.ENVIRONMENT
    """All roles read the same values from shared memory, in the same order."""
    SHARED_TABLE = "shared-table", AssumptionSource.ENVIRONMENT
    SHARED_RING = "shared-ring", AssumptionSource.ENVIRONMENT
    """Nothing but stores to constant places writes the numbers that were read."""
    POLLED = "polled", AssumptionSource.ENVIRONMENT
    """What is polled in shared memory is stored there in the end."""
    UNDEFINED = "undefined", AssumptionSource.ENVIRONMENT
    """Stands for a proof of nothing: a run depends on a register that has not been written."""
    CUT = "cut", AssumptionSource.ENVIRONMENT
    """A number fits into the bits that an instruction leaves of it: a bound of what the runs show."""


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
    VALUES_OR_TIME = "values-or-time"
    """Numbers of which fewer runs are to be made, or more effort."""


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
    GLOBAL_ORDER = "global-order"
    """What is read from global memory is in order behind what other CTAs, copies and the kernel in front write."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a verdict is what it is, and at which point (-1: nowhere in particular)."""

    text: str
    point: int
    need: Need = Need.NOTHING
    options: tuple[str, ...] = ()
    """What the options that are needed would say, such as `n.s32 >= 1` or `block=160`."""
    source: AssumptionSource | None = None
    """Who is to make it true, where it is assumed; None for a reason that is no assumption."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question; an unknown one is not decided unless it says otherwise."""

    property: Property
    kind: VerdictKind
    reasons: tuple[Reason, ...]
    openness: Openness | None = None
    evidence: Evidence = None  # type: ignore[assignment]
    """What it is shown by: that of its kind where nothing else is said."""
    assumptions: tuple[Reason, ...] = ()
    """What it takes for granted, each with its source: the reasons that have one, and what is said here."""

    def __post_init__(self) -> None:
        if self.openness is None and self.kind is VerdictKind.UNKNOWN:
            object.__setattr__(self, "openness", Openness.NOT_DECIDED)
        if self.evidence is None:
            object.__setattr__(self, "evidence", EVIDENCE_OF[self.kind])
        own = (reason for reason in self.reasons if reason.source is not None)
        object.__setattr__(self, "assumptions", tuple(dict.fromkeys((*own, *self.assumptions))))
        if self.kind is VerdictKind.ASSUMES and not self.assumptions:
            raise ValueError(f"{self.property.value} holds if something does, and nobody says what")
