"""Protocols: what the threads of a CTA or cluster do to barriers, groups, shared memory and each other.

A *strand* is a set of threads of one warp that execute the same synchronising instructions; its actions are in
program order. Semantics files (`mbarrier`, `bulk_copy`, …) lower recorded events to these actions; the simulation
and the explicit-state search know nothing else.

An action is atomic, except that asynchronous work (`Transfer`, `AsyncArrive`) completes at any moment after its
issue, and that a `Rendezvous` that waits first arrives and later passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ..symex.values.symbol import Form
from .partings import Partings
from .sync_objects import CountedBarrier, RegisterBudget

Amount: TypeAlias = int | Form
"""Bytes: a number, or a linear form over boxes of tensor maps and parameters."""

TENSOR_CORE, TENSOR_LOADS, TENSOR_STORES = "tcgen05", "tcgen05.ld", "tcgen05.st"
"""Pipelines of work on tensor memory: of the matrix unit, and what warps load and store."""
TEAM_PIPELINES = frozenset({"wgmma"})
"""Pipelines whose operations belong to all warps of a warpgroup together."""
WARPS_OF_A_TEAM = 4


class Proxy(Enum):
    """Through which path memory is accessed (PTX ISA, "Proxies")."""

    GENERIC = "generic"
    ASYNC = "async"


OBJECT_BYTES = 8
"""Bytes of an mbarrier."""


@dataclass(frozen=True, slots=True, order=True)
class Barrier:
    """An mbarrier: rank of its CTA in the cluster, and its shared-memory offset."""

    cta: int
    offset: int


SyncObject: TypeAlias = Barrier | CountedBarrier | RegisterBudget
"""What strands synchronise by."""
OPEN_END = 1 << 24
"""End of the bytes that an access may reach whose array has no known end: more than any CTA has."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Bytes of shared memory: rank of the CTA, offset of the first one, how many.

    `exact` is False when more bytes may follow those that are certain: up to `reach` bytes, or when that is 0, up to
    the end of the slot they lie in. A negative offset stands for a place that is not known.
    """

    cta: int
    start: int
    size: int
    exact: bool = True
    reach: int = 0

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def is_open(self) -> bool:
        """Tell whether nothing says how far an access may reach behind the start of its array."""
        return not self.exact and self.start >= 0 and self.start + self.reach == OPEN_END

    def may_meet(self, other: Span) -> bool:
        """Tell whether some bytes may be in both; what has no known extent is taken to stay in its slot."""
        if self.start < 0 or other.start < 0:
            return True
        ends = (span.start + max(span.size, span.reach, 1) for span in (self, other))
        return self.cta == other.cta and max(self.start, other.start) < min(ends)


@dataclass(frozen=True, slots=True, order=True)
class Columns:
    """Columns of the tensor memory of a CTA: `size` from `start` on, in some groups of 16 lanes.

    `origin` is the allocation that `start` counts from (see `tensor_address`); a negative start stands for a place
    that is not known. `exact` is False when more may be touched than these.
    """

    cta: int
    origin: int
    groups: int
    """Groups of lanes as bits: the lowest is lanes 0 to 15."""
    start: int
    size: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Init:
    """`mbarrier.init` with an expected arrival count."""

    point: int
    barrier: Barrier
    count: int


@dataclass(frozen=True, slots=True)
class Inval:
    point: int
    barrier: Barrier


@dataclass(frozen=True, slots=True)
class Arrive:
    """Arrive-ons of `count` together, after expecting `expect` bytes; `drop` lowers later phases too."""

    point: int
    barrier: Barrier
    count: int
    expect: Amount = 0
    drop: bool = False
    token: int = -1
    """Number of the event whose state result names this phase."""
    releases: bool = True
    """False for `.relaxed`: no memory access is published."""
    completes: bool = True
    """False for `.noComplete`: the arrival must not end the phase."""
    wide: bool = True
    """False for the scope of a CTA: nothing is published to other CTAs."""
    beside: tuple[tuple[int, int], ...] = ()
    """Strands that arrive by the same instruction, at one moment, and the numbers of their arrivals."""


@dataclass(frozen=True, slots=True)
class Expect:
    """`mbarrier.expect_tx` alone; a negative amount for `mbarrier.complete_tx`."""

    point: int
    barrier: Barrier
    amount: Amount


class CopyFault(Enum):
    """Which rule of PTX a copy breaks whatever else happens."""

    ADDRESS = "address"
    """It starts at no multiple of 16 bytes."""
    SIZE = "size"
    """It moves no multiple of 16 bytes."""
    SIGNAL = "signal"
    """Its mbarrier is not in the CTA that it writes to."""
    OWN_CTA = "own-cta"
    """It goes from shared memory into that of the same CTA."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Asynchronous work: reads and writes shared memory, completes bytes on mbarriers, or joins a pipeline."""

    point: int
    completes: tuple[tuple[Barrier, Amount], ...]
    pipeline: str = ""
    """Pipeline it joins (`bulk`, `cp.async`, `wgmma`, `tcgen05`), or "" for none."""
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()
    proxy: Proxy = Proxy.ASYNC
    combines: bool = False
    """True for reductions: two of them may meet."""
    after_fenced_reads: bool = False
    """True when ordinary reads of the bytes that it writes must be fenced against the async proxy."""
    told_by_stores: bool = False
    """True when what threads store there tells how much it reads."""
    copied: tuple[tuple[int, int], ...] = ()
    """Places to which several threads copy by this `cp.async`, with the distance of where from to what all have."""
    asks: bool = False
    """True for a request to cancel a launch (see `launch_answers`)."""
    open_size: str = ""
    """How many bytes it moves, for people, where that is not known to be a multiple of 16."""
    faults: tuple[tuple[CopyFault, str], ...] = ()
    """What PTX forbids of this copy itself, with what is said of it: it is followed as if it had been allowed."""


@dataclass(frozen=True, slots=True)
class AsyncArrive:
    """An arrive-on that happens when all earlier work of this strand in a pipeline is done."""

    point: int
    barrier: Barrier
    count: int
    increments: bool = False
    """True for `cp.async.mbarrier.arrive` without `.noinc`: the pending count is raised at issue."""
    pipeline: str = "tcgen05"


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait for a phase, by parity or by the state that an arrive returned."""

    point: int
    barrier: Barrier
    parity: int | None
    token: int = -1
    acquires: bool = True
    """False for `.relaxed`: nothing that others published is seen without a fence."""
    wide: bool = True
    """False for the scope of a CTA: ordinary writes of other CTAs are not seen."""
    observes: bool = False
    """Its thread only waits from here on, and nobody waits for it."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Close a group of the work of a pipeline."""

    point: int
    pipeline: str


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Wait until at most `pending` of the newest groups are open; `read` waits for source reads only."""

    point: int
    pipeline: str
    pending: int
    read: bool = False


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """Arrive at a counted barrier, and wait for it when `waits`: named, warp and cluster barriers."""

    point: int
    name: CountedBarrier
    threads: int
    needed: int
    waits: bool
    arrives: bool = True
    orders: bool = True
    """False for relaxed arrivals and for collectives that order execution and no memory."""
    without_exited: bool = False
    """True when threads that have ended count as if they had arrived."""
    parted: int = 0
    """Lanes of the warp, as bits, that come without the others to a barrier that wants all of them together."""
    unnamed: int = 0
    """Lanes of the warp, as bits, that come though the member mask does not name them."""


@dataclass(frozen=True, slots=True)
class Access:
    """Ordinary accesses of shared memory. Not `certain`: code that may be skipped."""

    point: int
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()
    certain: bool = True
    blocks: bool = False
    """The instruction ends with its write, so that released kernels read it in any order of execution behind it."""
    stored: tuple[tuple[int, int], ...] = ()
    """Places to which several threads store by this instruction, with the numbers that those of the strand store."""
    is_relative: bool = False
    """These numbers are the distance from one that all threads have in each round."""
    refused: bool = False
    """It reads the answer to a request to cancel a launch, which may say no."""

    @property
    def collides(self) -> bool:
        """Tell whether threads of the strand store different numbers to one place by this instruction."""
        return len({place for place, _ in self.stored}) < len(self.stored)

    @property
    def combines(self) -> bool:
        """Tell whether it is atomic: reads and writes the same bytes in one instruction."""
        return bool(self.reads) and self.reads == self.writes


class TensorFence(Enum):
    """Fences of tensor memory around the synchronisation of threads (PTX ISA §9.7.17.11.1)."""

    BEFORE_SYNC = "before_thread_sync"
    AFTER_SYNC = "after_thread_sync"


@dataclass(frozen=True, slots=True)
class Fence:
    """What a fence orders: earlier accesses for later releases, acquired ones, proxies, initialisations."""

    point: int
    releases: bool = False
    acquires: bool = False
    proxy: bool = False
    """Generic accesses of shared memory against later ones through the async proxy."""
    of_others: bool = False
    """Of a proxy fence: those of others alone, as the side that acquires them does."""
    to_others: bool = False
    """Of a proxy fence: it only releases, for others that acquire."""
    narrow: bool = False
    """Of a proxy fence: accesses of the shared memory of the CTA alone, not of other CTAs."""
    inits: bool = False
    """`fence.mbarrier_init`."""
    wide: bool = True
    """False for the scope of a CTA: nothing is published to other CTAs, or seen of them."""
    tensor: TensorFence | None = None
    """Of tensor memory: it orders nothing else."""


@dataclass(frozen=True, slots=True)
class Registers:
    """`setmaxnreg` by `warps` warps: registers of a thread from now on."""

    point: int
    count: int
    increases: bool
    warps: int = 1
    cta: int = 0


@dataclass(frozen=True, slots=True)
class TensorAccess:
    """What reads and writes tensor memory: work of a pipeline, or at once with none (deallocation)."""

    point: int
    pipeline: str
    """`TENSOR_CORE`, `TENSOR_LOADS` or `TENSOR_STORES`; "" for none."""
    reads: tuple[Columns, ...] = ()
    writes: tuple[Columns, ...] = ()
    fault: str = ""
    """What is wrong with its address or its threads by themselves, or ""."""
    allocates: bool = False
    """True for an allocation. What it writes, for a pair of CTAs, is what no deallocation may come before."""


@dataclass(frozen=True, slots=True)
class TensorWait:
    """Wait for loads or stores of tensor memory of this strand, the newest `pending` of them left out."""

    point: int
    pipeline: str
    pending: int = 0


Action: TypeAlias = (
    Init | Inval | Arrive | Expect | Transfer | AsyncArrive | Wait | Commit | WaitGroup | Rendezvous | Access
    | Fence | Registers | TensorAccess | TensorWait
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strand:
    """Threads that act together: CTA rank, warp, how many, and a name for people."""

    cta: int
    warp: int
    lanes: int
    """Lanes of the warp as bits."""
    name: str
    actions: tuple[Action, ...] = field(repr=False)
    events: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """For each action, the number of its event in the trace of its CTA."""

    @property
    def threads(self) -> int:
        return self.lanes.bit_count()


@dataclass(frozen=True, slots=True)
class Protocol:
    """All strands of one CTA or cluster for one run."""

    strands: tuple[Strand, ...]
    cluster_threads: int
    """Threads of all CTAs together: what the cluster barrier waits for."""
    registers: int | None = None
    """Registers of a thread when the kernel starts; None when not known: then no increase blocks."""
    partings: Partings = field(default_factory=Partings)
    """Events that lanes of a warp come to on different sides of a branch."""

    def team(self, strand: int) -> tuple[int, ...]:
        """Return the strands of the warpgroup of a strand."""
        own = self.strands[strand]
        return tuple(
            index
            for index, each in enumerate(self.strands)
            if each.cta == own.cta and each.warp // WARPS_OF_A_TEAM == own.warp // WARPS_OF_A_TEAM
        )
