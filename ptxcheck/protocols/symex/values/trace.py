"""What the SIMT machine records, in program order per thread.

Property: two events of one thread stand in the order in which it executes them.

Argument: the machine appends events as it runs groups of threads, and a thread is in one group at a time.

Not covered: the order of events of different threads.

Two kinds of events share one list, so that their order is program order for each thread:

- synchronising instructions (`event.access is None`): `operands` holds the value of each operand by its name in
  the instruction table;
- ordinary accesses of shared memory (`event.access` is an `Access`; `operands` is empty): `ld`, `st`, `atom`,
  `red`, `ldmatrix` and `stmatrix` on shared addresses, or on generic ones that may be shared. They are recorded
  when asked to: `verify(accesses=True)`. `cp.async`, bulk copies,
  `st.async`, `wgmma` and `tcgen05` are synchronising instructions: their addresses are operands.

A value is a number, an array with a number for each thread of the CTA (index: flat thread number; only the
entries of `event.threads` mean anything), or a symbol. Shared addresses, generic or not, are
`rank << RANK_SHIFT | offset` after `& ~SHARED_WINDOW`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ....launch import Dim
from ....verdict import AssumptionKind, Need
from .symbol import (
    Atom,
    Condition,
    Form,
    Lanes,
    Value,
)

ThreadSet = int
"""Threads of a CTA as the bits of an integer."""

SHARED_WINDOW = 1 << 56
"""Generic address of shared memory; CTA ranks stand in bits 24 and up of a shared address."""
OFFSETS = ~SHARED_WINDOW & ((1 << 64) - 1)
"""What of a generic address is the one in shared memory."""
PARAM_WINDOW = 1 << 57
RANK_SHIFT = 24
Peek = tuple[int, int, int]
"""A poll that is not repeated: its point, the first thread that came to it, and how often it did before."""
OFFSET_MASK = (1 << RANK_SHIFT) - 1


class NotFollowedError(Exception):
    """The machine cannot go on: why, and at which point. The verdict becomes `unknown`."""

    def __init__(
        self,
        reason: str,
        point: int,
        *,
        ctas: int = 0,
        need: Need = Need.NOTHING,
        options: tuple[str, ...] = (),
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.point = point
        self.need = Need.CLUSTER if ctas else Need.VALUES if options else need
        self.options = options
        """What `--assume` would have to say so that it can."""
        self.ctas = ctas
        """CTAs that the cluster must have for the kernel to go on here; 0 when that is not the trouble."""


class HaltError(Exception):
    """Threads stop for good where a run is followed no further."""


class OutOfTimeError(NotFollowedError):
    """The effort for the verification is spent."""

    def __init__(self, point: int = -1) -> None:
        super().__init__("more work than the effort allows", point, need=Need.TIME)


class TooLongError(NotFollowedError):
    """A run takes more steps than the budget allows."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch that a run is for."""

    block: Dim
    cluster: Dim = (1, 1, 1)

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def ctas(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def place(self, rank: int) -> Dim:
        """Return where the CTA of a rank is in its cluster: its `%cluster_ctaid`."""
        width, height, _ = self.cluster
        return rank % width, rank // width % height, rank // (width * height)


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of shared memory from `start` to `end`: of the CTA itself, or of any CTA of its cluster."""

    start: int
    end: int
    of_any: bool


@dataclass(frozen=True, slots=True)
class Access:
    """What an ordinary access does to shared memory."""

    reads: bool
    writes: bool
    """Both for atomics that return a value; `red` and `atom` count as reads and writes."""
    address: Value | None
    """Shared address of the first byte for each thread; None when not known: anywhere in shared memory."""
    size: int
    """Bytes at the address of each thread; for matrix accesses one row."""
    lanes: int = 32
    """Only the first `lanes` lanes of each warp give an address that counts (fewer for small `ldmatrix`)."""
    certain: bool = True
    """False in code that some or all of the threads may skip: the access may happen, or not."""
    within: Bytes | None = None
    """What it stays inside when its address is not known, None: all shared memory."""
    array: int | None = None
    """Where the array starts that it is into when neither is known, nor how long the array is."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a branch at which threads parted, inside the side `outer` of another branch."""

    outer: Side | None
    fork: int
    """Number of the parting: the sides of one have it in common.

    It is negative behind the join of the branch for threads that went on without others, and for these.
    """
    threads: ThreadSet


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One synchronising instruction or access, executed together by `threads`."""

    index: int
    point: int
    threads: ThreadSet
    operands: Mapping[str, Value]
    guard: ThreadSet
    """The threads that came to the instruction, its own predicate not considered."""
    access: Access | None = None
    certain: bool = True
    """False for a copy of threads that some or all of them may skip."""
    side: Side | None = None
    """The innermost side of a branch that the threads are on, None where all threads are together."""


AssumptionKey: TypeAlias = tuple[AssumptionKind, int, str]


@dataclass(frozen=True, slots=True)
class Assumption:
    """A named approximation of a run: a verdict that rests on one says so."""

    kind: AssumptionKind
    text: str
    point: int
    options: tuple[str, ...] = ()
    """What `--assume` would say to state it, where it can."""

    @property
    def key(self) -> AssumptionKey:
        """What is the same for two of which one says all: those on sizes name the sizes."""
        return self.kind, self.point, self.text if self.kind is AssumptionKind.SIZE else ""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run of one CTA of a cluster: its events in an order that is program order for every thread."""

    rank: int
    shape: Shape
    events: tuple[Event, ...]
    path: tuple[tuple[Condition, bool], ...]
    assumptions: tuple[Assumption, ...]
    loaded: Mapping[int, tuple[Atom, ...]] = field(default_factory=dict, hash=False)
    """For accesses by the number of their event: the symbols of what they read."""
    turns: Mapping[int, int] = field(default_factory=dict, hash=False)
    """For accesses of rings by the number of their event: the turn whose number was taken to be read."""
    peeks: Mapping[int, Peek] = field(default_factory=dict, hash=False)
    """For polls that are not repeated, and that succeeded, by the number of their event."""
    halted: ThreadSet = 0
    """Threads that were followed no further at some point: what they do then is left out."""
    fits: tuple[tuple[Condition, bool], ...] = ()
    """What must hold of numbers that stand for registers: where it does not, there is no such run."""


__all__ = [
    "OFFSET_MASK",
    "PARAM_WINDOW",
    "RANK_SHIFT",
    "SHARED_WINDOW",
    "Access",
    "Assumption",
    "Event",
    "Form",
    "HaltError",
    "Lanes",
    "NotFollowedError",
    "Peek",
    "Shape",
    "Side",
    "ThreadSet",
    "Trace",
]
