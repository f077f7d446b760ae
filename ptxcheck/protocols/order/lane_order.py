"""Accesses of shared memory by lanes of one warp that only running in step keeps in order.

Lanes that take part in the same synchronisation are one strand, whose accesses count as ordered. For the lanes among
themselves that is so where they meet in between: at a barrier, at an instruction that wants the warp together, or at an
mbarrier that they arrive at and wait for. Since sm_70 nothing else orders them (PTX ISA, "bar.warp.sync"). What a lane
copies by `cp.async` is written when that lane has waited for it (PTX ISA, "cp.async.wait_group").
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...cfg.cfg import Cfg
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..symex.slice.polling import POLLS
from ..symex.values.register_file import lanes_of
from ..symex.values.symbol import Form, Value
from ..symex.values.trace import (
    OFFSET_MASK,
    RANK_SHIFT,
    SHARED_WINDOW,
    Access,
    Event,
    Trace,
)

_WARP = 32
_BYTES = 1 << 18
"""More than the shared memory of a CTA."""
_TOGETHER = frozenset({Trait.BARRIER, Trait.COLLECTIVE, Trait.ALIGNED})
_ARRIVALS = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP})
_COPIES = frozenset({Op.CP_ASYNC, Op.CP_ASYNC_COMMIT_GROUP, Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL})
_MOST_GROUPS = 1 << 31
_Numbers = npt.NDArray[np.int64]


def taken_to_be_in_step(cfg: Cfg, trace: Trace) -> int | None:
    """Return the first access of bytes that another lane of the warp has touched since they met, None if there is none.

    One of the two writes, and not both are atomic. Accesses at places that are not known are left out.
    """
    touched = _Touched(trace.shape.threads)
    copies = _Copies(touched, trace.rank)
    for event in trace.events:
        operation = cfg.instructions[event.point].operation
        lanes = lanes_of(event.threads, trace.shape.threads)
        if operation.op in _ARRIVALS and not operation.has(Mod.RELAXED):
            touched.arrived |= lanes
        elif operation.traits & _TOGETHER or (operation.op in POLLS and touched.arrived[lanes].all()):
            touched.meetings[lanes] += 1
            touched.arrived &= ~lanes
        elif operation.op in _COPIES:
            if copies.conflict(operation.op, event):
                return event.point
        elif event.access is not None and touched.conflicts(event, event.access, trace.rank):
            return event.point
    return None


@dataclass(slots=True)
class _Touched:
    """For each byte the last thread that wrote and read it, and how often that had met others by then."""

    threads: int
    meetings: _Numbers = field(init=False)
    arrived: npt.NDArray[np.bool_] = field(init=False)
    """Threads that have told of what they did before by an arrival, since they met others."""
    last: dict[bool, tuple[_Numbers, _Numbers]] = field(init=False)
    """By whether it is a write: threads (-1: none) and their meetings."""

    def __post_init__(self) -> None:
        self.meetings = np.zeros(self.threads, dtype=np.int64)
        self.arrived = np.zeros(self.threads, dtype=np.bool_)
        self.last = {
            writes: (np.full(_BYTES, -1, dtype=np.int64), np.zeros(_BYTES, dtype=np.int64))
            for writes in (False, True)
        }

    def conflicts(self, event: Event, access: Access, rank: int) -> bool:
        """Tell whether an access meets one of another lane; then note it."""
        if access.address is None or isinstance(access.address, Form) or not access.certain:
            return False
        if access.reads and access.writes:
            return False
        own = np.flatnonzero(lanes_of(event.threads, self.threads))
        places = self.places(access.address, access.size, own, rank)
        if places is None:
            return False
        found = self.meets(places, own, access.writes)
        self.note(places, own, access.writes)
        return found

    def places(self, address: Value, size: int, own: _Numbers, rank: int) -> _Numbers | None:
        """Return the bytes that each of the threads `own` accesses, a row each; None where they are not the CTA's."""
        if size == 0 or isinstance(address, Form) or not len(own):
            return None
        every = np.broadcast_to(np.asarray(address, dtype=np.uint64), self.threads)[own]
        places = (every & np.uint64(~SHARED_WINDOW & 0xFFFFFFFFFFFFFFFF)).astype(np.int64)
        if (places >> RANK_SHIFT != rank).any():
            return None
        found: _Numbers = (places & OFFSET_MASK)[:, None] + np.arange(size)
        return found if found.max() < _BYTES else None

    def note(self, places: _Numbers, own: _Numbers, writes: bool) -> None:
        """Note who has touched bytes, a row of them for each thread."""
        threads, meetings = self.last[writes]
        threads[places] = own[:, None]
        meetings[places] = self.meetings[own][:, None]

    def meets(self, places: _Numbers, own: _Numbers, writes: bool) -> bool:
        """Tell whether another lane has written bytes, or read what is written now, since the lanes met."""
        return any(self._meets(places, own, before) for before in ((True, False) if writes else (True,)))

    def _meets(self, places: _Numbers, own: _Numbers, wrote: bool) -> bool:
        threads, meetings = self.last[wrote]
        others = threads[places]
        same_warp = (others >= 0) & (others // _WARP == own[:, None] // _WARP) & (others != own[:, None])
        return bool((same_warp & (meetings[places] == self.meetings[own][:, None])).any())


@dataclass(slots=True)
class _Copies:
    """What threads copy by `cp.async` and have not waited for; from then on it is among what is touched."""

    touched: _Touched
    rank: int
    committed: _Numbers = field(init=False)
    """Groups that each thread has committed."""
    pending: list[tuple[_Numbers, _Numbers, _Numbers]] = field(init=False, default_factory=list)
    """Bytes a row, threads, and the number of the group of each."""

    def __post_init__(self) -> None:
        self.committed = np.zeros(self.touched.threads, dtype=np.int64)

    def conflict(self, op: Op, event: Event) -> bool:
        """Tell whether a copy writes what another lane has touched; note it, a commit or a wait."""
        lanes = lanes_of(event.threads, self.touched.threads)
        if op is Op.CP_ASYNC:
            return self._starts_too_early(event, np.flatnonzero(lanes))
        if op in (Op.CP_ASYNC_COMMIT_GROUP, Op.CP_ASYNC_WAIT_ALL):
            self.committed[lanes] += 1
        if op is Op.CP_ASYNC_WAIT_GROUP and isinstance(left := event.operands["n"], int):
            self._finish(lanes, min(left, _MOST_GROUPS))
        if op is Op.CP_ASYNC_WAIT_ALL:
            self._finish(lanes, 0)
        return False

    def _starts_too_early(self, event: Event, own: _Numbers) -> bool:
        size = event.operands["size"]
        if not event.certain or not isinstance(size, int):
            return False
        places = self.touched.places(event.operands["dst"], size, own, self.rank)
        if places is None:
            return False
        self.pending.append((places, own, self.committed[own]))
        return self.touched.meets(places, own, writes=True)

    def _finish(self, lanes: npt.NDArray[np.bool_], left: int) -> None:
        still = []
        for places, own, group in self.pending:
            over = lanes[own] & (group < self.committed[own] - left)
            if over.any():
                self.touched.note(places[over], own[over], writes=True)
            if not over.all():
                still.append((places[~over], own[~over], group[~over]))
        self.pending = still
