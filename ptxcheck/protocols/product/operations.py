"""Actions of strands as `OrderState` performs them: with numbers for barriers and landmarks, worked out once.

Property: a step says of an action all that performing it asks for.

Argument: the fields of each kind of step are what the function reads that performs it (`order_state`).

Not covered: what steps mean; that is in the module of their mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..model.actions import Access, Action, Amount, Init, Inval, Registers, TensorFence, Transfer
from .rows import Bits, Knowledge

Touching: TypeAlias = Access | Transfer | Init | Inval
"""Actions that touch shared memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """Why the order state does not show that all is well: what, whose action, where."""

    reason: str
    strand: int
    point: int


OTHER_PHASE = "what a poll has found was kept for another phase"
"""Why a poll cannot be taken to tell nothing."""


class Unproved(Exception):  # noqa: N818 - it is no error, it is an answer
    """Raised where something is not shown to be in order."""

    def __init__(self, reason: str, strand: int, point: int) -> None:
        super().__init__(reason)
        self.failure = Failure(reason, strand, point)


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One way in which an action of a strand touches memory, and its landmark."""

    number: int
    bit: Bits
    strand: int
    cta: int
    point: int
    action: Touching
    cells: tuple[int, ...]
    writes: bool
    combines: bool
    is_asynchronous: bool
    through_async_proxy: bool
    reaches: tuple[int, ...] = ()
    """CTAs whose end this must not outlive: others, and of copies the own one."""
    reaches_own: bool = False
    own: Knowledge = 0
    """What the strand knows of it at once."""
    forgotten: Knowledge = 0
    """What nobody knows of it when it happens again: a mask."""


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """Something that counts in a phase of an mbarrier: its landmarks, by the parity of the phase."""

    barrier: int
    events: tuple[Bits, Bits]
    amount: Amount
    """Bytes that complete, or are expected."""
    far: int
    """The CTA of the mbarrier where it is another one, else -1."""


@dataclass(frozen=True, slots=True, eq=False)
class InitStep:
    point: int
    barrier: int
    count: int
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class InvalStep:
    point: int
    barrier: int
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class ArriveStep:
    point: int
    what: Count
    count: int
    drop: bool
    token: int
    releases: bool
    completes: bool
    is_wide: bool
    """It has the scope of the cluster, or a wider one."""
    narrows: bool
    """Nothing is published to other CTAs."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectStep:
    point: int
    what: Count
    announced: Bits
    """Landmark of the announcement itself."""


@dataclass(frozen=True, slots=True, eq=False)
class TransferStep:
    point: int
    kinds: tuple[Kind, ...]
    completes: tuple[Count, ...]
    pipeline: int
    """Number of the pipeline of the strand, -1 for none."""
    by_barrier: Bits
    """Landmarks of accesses that are over with the phase of the last mbarrier."""
    written_by_pipeline: Bits
    read_by_pipeline: Bits
    objects: tuple[int, ...]
    """Mbarriers whose bytes are among those that it surely touches."""
    asks: Bits
    """Landmark of a request to cancel a launch, 0 for what is none."""
    multiplies: bool
    """Work that a warpgroup does together."""


@dataclass(frozen=True, slots=True, eq=False)
class LaterStep:
    """An asynchronous arrival."""

    point: int
    what: Count
    count: int
    increments: bool
    pipeline: int
    commits: tuple[int, str, int]
    """Strand, pipeline and count."""
    announced: Bits
    """Landmark of the increment."""
    finished: Bits
    """Landmark of the end of what it waits for, 0 where nobody asks for it."""


@dataclass(frozen=True, slots=True, eq=False)
class WaitStep:
    point: int
    barrier: int
    parity: int | None
    token: int
    acquires: bool
    wide: bool
    event: Bits
    """Landmark of the wait."""


@dataclass(frozen=True, slots=True, eq=False)
class CommitStep:
    point: int
    pipeline: int


@dataclass(frozen=True, slots=True, eq=False)
class WaitGroupStep:
    point: int
    pipeline: int
    pending: int
    read: bool
    members: tuple[tuple[int, bool], ...]
    """Pipelines whose groups are waited for, and whether they are of the same warp."""


@dataclass(frozen=True, slots=True, eq=False)
class MeetStep:
    """A rendezvous."""

    point: int
    meeting: int
    threads: int
    needed: int
    waits: bool
    arrives: bool
    orders: bool
    without_exited: bool
    parted: int
    unnamed: int
    event: Bits
    """Landmark of the arrival."""
    waits_later: bool
    """A wait of its own, apart from the arrival, follows."""


@dataclass(frozen=True, slots=True, eq=False)
class AccessStep:
    point: int
    kinds: tuple[Kind, ...]
    objects: tuple[int, ...]
    refused: bool
    collides: bool


@dataclass(frozen=True, slots=True, eq=False)
class FenceStep:
    point: int
    releases: bool
    acquires: bool
    proxy: bool
    of_others: bool
    to_others: bool
    inits: bool
    wide: bool


@dataclass(frozen=True, slots=True, eq=False)
class RegistersStep:
    point: int
    action: Registers
    event: Bits


@dataclass(frozen=True, slots=True, eq=False)
class TensorKind:
    """One way in which an action of a strand touches tensor memory, and its landmarks."""

    bit: Bits
    issued: Bits
    """Landmark of its issue, for loads and stores."""
    strand: int
    warp: tuple[int, int]
    point: int
    pipeline: str
    cells: tuple[int, ...]
    writes: bool
    own: Knowledge
    """What the strand knows of it at once."""
    makes: bool = False
    frees: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TensorStep:
    point: int
    kinds: tuple[TensorKind, ...]
    pipeline: int
    allocates: bool
    frees: bool
    freed: tuple[int, int] | None
    """CTA and allocation that is freed for good."""
    fault: str


@dataclass(frozen=True, slots=True, eq=False)
class TensorWaitStep:
    point: int
    pipeline: int
    pending: int


@dataclass(frozen=True, slots=True, eq=False)
class TensorFenceStep:
    point: int
    kind: TensorFence


@dataclass(frozen=True, slots=True, eq=False)
class UnknownStep:
    """What is not modelled."""

    point: int
    reason: str


Step: TypeAlias = (
    InitStep | InvalStep | ArriveStep | ExpectStep | TransferStep | LaterStep | WaitStep | CommitStep | WaitGroupStep
    | MeetStep | AccessStep | FenceStep | RegistersStep | TensorStep | TensorWaitStep | TensorFenceStep | UnknownStep
)  # fmt: skip

__all__ = ["Action", "Failure", "Kind", "Step", "Touching", "Unproved"]
