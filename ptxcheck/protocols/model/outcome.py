"""What a simulation or a search says of a protocol: flaws, schedules, equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, overload

from ...verdict import AssumptionSource, Property
from .actions import Amount, Barrier, SyncObject
from .axiom import Axiom

MAX_COUNT = (1 << 20) - 1
"""Largest expected count and largest byte count (PTX ISA, "mbarrier contents")."""

LAST_OF_ALL = "an arrival that must not complete the phase is the last one"
"""What is wrong with `.noComplete` then."""


class Flaw(Enum):
    """What can be wrong with a protocol."""

    DEADLOCK = "deadlock"
    EARLY_ARRIVAL = "early-arrival"
    EARLY_TRANSFER = "early-transfer"
    LATE_EXPECT = "late-expect"
    MISSED_PHASE = "missed-phase"
    LATE_OBSERVER = "late-bystander"
    """The same for an unsynchronised observer: a warp that only waits, and that nobody waits for."""
    EARLY_WAIT = "early-wait"
    TX_MISMATCH = "tx-mismatch"
    TX_RANGE = "tx-range"
    OVER_ARRIVAL = "over-arrival"
    UNINITIALISED = "uninitialised"
    DOUBLE_INIT = "double-init"
    UNORDERED_INIT = "unordered-init"
    COUNT_MISMATCH = "count-mismatch"
    LANE_NOT_IN_MASK = "lane-not-in-mask"
    """A lane executes a warp-collective whose member mask does not name it."""
    ASKED_AFTER_REFUSAL = "asked-after-refusal"
    """A launch is to be cancelled after a request that found none."""
    EARLY_INVALIDATION = "early-invalidation"
    """An mbarrier is invalidated and nothing orders that after its last use."""
    BARRIER_OVERWRITTEN = "barrier-overwritten"
    """Bytes of a live mbarrier are accessed by something else than mbarrier operations."""
    READ_TOO_EARLY = "read-too-early"
    """A read that nothing orders after a write of the same bytes."""
    OVERWRITE = "overwrite"
    """A write that nothing orders after an earlier read of the same bytes."""
    WRITES_COLLIDE = "writes-collide"
    """Two writes of the same bytes that nothing orders."""
    AWAITED_BY_ANOTHER_WARP = "awaited-by-another-warp"
    """A write of bytes that a warp reads by `wgmma`, behind the wait of another warp of its warpgroup alone."""
    STORED_BY_ANOTHER_WARP = "stored-by-another-warp"
    """`wgmma` reads what another warp of its warpgroup stored before it came to the same `wgmma`, with no barrier."""
    UNRELEASED_STORE = "unreleased-store"
    """A store to the own CTA comes in front of an access by execution alone: nothing on the way releases it."""
    NARROW_ACQUIRE = "narrow-acquire"
    """What another CTA stored here and released for the cluster is acquired at the scope of the CTA, or not at all."""
    UNAWAITED_STORE = "unawaited-store"
    """A warp loads from tensor memory what another one stored and told of before it was over."""
    MISSING_PROXY_FENCE = "missing-proxy-fence"
    """Generic writes reach an access through the async proxy without a proxy fence on the way."""
    FENCED_BEHIND_BARRIER = "fenced-behind-barrier"
    """`wgmma` reads what another warp stored, which has its proxy fence behind the barrier, in front of its `wgmma`."""
    FENCED_ON_THE_WAY = "fence-on-the-path"
    """Generic writes reach a read through the async proxy behind a proxy fence that another thread executes."""
    UNFENCED_COPY = "unfenced-copy"
    """A matrix instruction reads what `cp.async` brought, without a proxy fence on the way."""
    OUTSIDE_ALLOCATION = "outside-allocation"
    """Columns or lanes of tensor memory that the kernel does not have there."""
    FREED_AMISS = "freed-amiss"
    """Tensor memory is freed twice, never, before the peer has its own, from another column, or by a part of a warp."""
    MISALIGNED_COPY = "misaligned-copy"
    """A copy from or to an address of shared memory that is no multiple of 16."""
    SIZE_OF_COPY = "size-of-copy"
    """A copy of bytes that are no multiple of 16."""
    FOREIGN_SIGNAL = "foreign-signal"
    """A copy into one CTA that signals an mbarrier of another one."""
    COPY_TO_OWN_CTA = "copy-to-own-cta"
    """A copy from shared memory into that of the same CTA."""
    EXIT_WITH_REMOTE_ACCESS = "exit-with-remote-access"
    """A CTA may have ended when another one reaches into its shared memory."""


class Hang(Enum):
    """What keeps a strand from going on, in every schedule: the phases before are the same in all of them."""

    ARRIVALS = "arrivals"
    BYTES = "bytes"
    """The phase has other bytes expected than complete, whether or not it has its arrivals."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a schedule: an action of a strand, or the completion of work that it issued."""

    strand: int
    index: int
    phase: int | None
    """Phase that it observed or took part in."""
    completes: bool = False
    """True when the asynchronous work that the action issued completes now."""


@dataclass(frozen=True, slots=True, eq=False)
class FirstSteps(Sequence[Step]):
    """The first steps of a schedule that only grows, without a copy: many problems are met on the way of one."""

    growing: Sequence[Step]
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, at: int) -> Step: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, at: int | slice) -> Step | tuple[Step, ...]:
        numbers = range(self.length)[at]
        return self.growing[numbers] if isinstance(numbers, int) else tuple(self.growing[n] for n in numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FirstSteps):
            return NotImplemented
        is_same = self.growing is other.growing or self[:] == other[:]
        return self.length == other.length and is_same

    def __hash__(self) -> int:
        return hash(self.length)


@dataclass(frozen=True, slots=True)
class SharedByte:
    """A byte of shared memory."""

    cta: int
    offset: int


@dataclass(frozen=True, slots=True)
class TensorColumn:
    """A column of tensor memory, counted from an allocation (see `tensor_address`)."""

    cta: int
    origin: int
    column: int


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """All shared memory of a CTA."""

    cta: int


Location: TypeAlias = SyncObject | SharedByte | TensorColumn | SharedMemory
"""What a problem is about."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One flaw: where, at which barrier and phase, and the points that matter."""

    flaw: Flaw
    strand: int
    point: int
    barrier: Location | None
    """What it is about."""
    phase: int
    detail: str
    related: tuple[tuple[int, int], ...] = ()
    """Strand and point of other actions."""
    demonstrated: bool = False
    """True when `schedule` is a run that goes wrong; False when only the argument for all schedules fails."""
    schedule: Sequence[Step] = ()
    axiom: Axiom | None = None
    """What removes it under the profile of the hardware: it is strict then."""
    hang: Hang | None = None
    """Of a deadlock that the order argument covers; None for one that only some schedules come to."""
    elsewhere: bool = False
    """Only other schedules than the simulated one go wrong: those in which actions count in other phases."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Bytes expected in a phase must equal the bytes that complete."""

    barrier: Barrier
    expected: Amount
    completed: Amount


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why something can be neither proved nor refuted, and at which point."""

    text: str
    point: int


@dataclass(frozen=True, slots=True)
class Proviso:
    """A fact about extents that a proof rests on, and a problem does not."""

    text: str
    properties: frozenset[Property] = frozenset({Property.SLOT_SAFETY})
    source: AssumptionSource = AssumptionSource.ENVIRONMENT
    point: int = -1
    """The instruction whose size it is about, -1 where it is about none: what is known of values may say it, too."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of all schedules. `problems` is empty when the protocol keeps its contract."""

    problems: tuple[Problem, ...]
    equations: tuple[Equation, ...]
    steps: tuple[Step, ...]
    """The schedule that was run."""
    strict: tuple[Problem, ...] = ()
    """What the PTX ISA forbids and released libraries rely on: for `--pedantic`."""
    memory_doubts: tuple[Doubt, ...] = ()
    """Why the absence of problems with bytes of shared memory proves nothing; empty when it does."""
    provisos: tuple[Proviso, ...] = ()
    exit_doubts: tuple[Doubt, ...] = ()
    """Why it proves nothing of accesses of CTAs that may have ended."""
