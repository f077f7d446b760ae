"""Protocols: what the threads of a CTA or cluster do to barriers, groups and each other.

A *strand* is a set of threads of one warp that execute the same synchronising instructions; its actions are in
program order. Semantics files (`mbarrier`, `bulk_copy`, …) lower recorded events to these actions; the simulation
and the explicit-state search know nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .machine.symbol import Form

Amount: TypeAlias = int | Form
"""Bytes: a number, or a linear form over boxes of tensor maps and parameters."""


@dataclass(frozen=True, slots=True, order=True)
class Barrier:
    """An mbarrier: rank of its CTA in the cluster, and its shared-memory offset."""

    cta: int
    offset: int


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
    """`times` arrive-ons of `count` each, after expecting `expect` bytes; `drop` lowers later phases too."""

    point: int
    barrier: Barrier
    count: int
    expect: Amount = 0
    drop: bool = False
    token: int = -1
    """Number of the event whose state result names this phase."""


@dataclass(frozen=True, slots=True)
class Expect:
    """`mbarrier.expect_tx` alone."""

    point: int
    barrier: Barrier
    amount: Amount


@dataclass(frozen=True, slots=True)
class Transfer:
    """An asynchronous copy that completes bytes on mbarriers, at any moment after its issue."""

    point: int
    completes: tuple[tuple[Barrier, Amount], ...]
    group: str = ""
    """Group kind it joins (`bulk`, `cp.async`, `wgmma`), or "" for none."""


@dataclass(frozen=True, slots=True)
class AsyncArrive:
    """An arrive-on that asynchronous work of this strand performs when all its earlier work is done."""

    point: int
    barrier: Barrier
    count: int
    increments: bool = False
    """True for `cp.async.mbarrier.arrive` without `.noinc`: the pending count is raised at issue."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait for a phase, by parity or by the state that an arrive returned."""

    point: int
    barrier: Barrier
    parity: int | None
    token: int = -1
    polls: bool = False
    """True when the instruction may be left with `false` (a test, or a try outside a loop)."""


@dataclass(frozen=True, slots=True)
class Commit:
    point: int
    group: str


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Wait until at most `pending` of the newest groups are open; `read` waits for source reads only."""

    point: int
    group: str
    pending: int
    read: bool = False


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """Arrive at a counted barrier, and wait for it when `waits`: named barriers and the cluster barrier."""

    point: int
    name: tuple[object, ...]
    threads: int
    needed: int
    waits: bool
    arrives: bool = True


Action: TypeAlias = (
    Init | Inval | Arrive | Expect | Transfer | AsyncArrive | Wait | Commit | WaitGroup | Rendezvous
)


@dataclass(frozen=True, slots=True)
class Strand:
    """Threads that act together: CTA rank, warp, how many, and a name for people."""

    cta: int
    warp: int
    lanes: int
    """Lanes of the warp as bits."""
    name: str
    actions: tuple[Action, ...] = field(repr=False)

    @property
    def threads(self) -> int:
        return self.lanes.bit_count()


@dataclass(frozen=True, slots=True)
class Protocol:
    """All strands of one CTA or cluster for one run."""

    strands: tuple[Strand, ...]
    cluster_threads: int
    """Threads of all CTAs together: what the cluster barrier waits for."""
