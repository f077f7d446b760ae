"""Accesses of shared memory by lanes of one warp that only running in step keeps in order.

Lanes that take part in the same synchronisation are one strand, whose accesses count as ordered. For the lanes among
themselves that is so where they meet in between: at a barrier, at an instruction that wants the warp together, or at an
mbarrier that they wait for. Since sm_70 nothing else orders them (PTX ISA, "bar.warp.sync").
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..cfg.cfg import Cfg
from ..spec import Trait
from .machine.polling import POLLS
from .machine.registers import lanes_of
from .machine.symbol import Form
from .machine.trace import OFFSET_MASK, RANK_SHIFT, SHARED_WINDOW, Access, Event, Trace

_WARP = 32
_BYTES = 1 << 18
"""More than the shared memory of a CTA."""
_TOGETHER = frozenset({Trait.BARRIER, Trait.COLLECTIVE, Trait.ALIGNED})
_Numbers = npt.NDArray[np.int64]


def taken_to_be_in_step(cfg: Cfg, trace: Trace) -> int | None:
    """Return the first access of bytes that another lane of the warp has touched since they met, None if there is none.

    One of the two writes, and not both are atomic. Accesses at places that are not known are left out.
    """
    touched = _Touched(trace.shape.threads)
    for event in trace.events:
        operation = cfg.instructions[event.point].operation
        if operation.traits & _TOGETHER or operation.op in POLLS:
            touched.meetings[lanes_of(event.threads, trace.shape.threads)] += 1
        elif event.access is not None and touched.conflicts(event, event.access, trace.rank):
            return event.point
    return None


@dataclass(slots=True)
class _Touched:
    """For each byte the last thread that wrote and read it, and how often that had met others by then."""

    threads: int
    meetings: _Numbers = field(init=False)
    last: dict[bool, tuple[_Numbers, _Numbers]] = field(init=False)
    """By whether it is a write: threads (-1: none) and their meetings."""

    def __post_init__(self) -> None:
        self.meetings = np.zeros(self.threads, dtype=np.int64)
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
        every = np.broadcast_to(np.asarray(access.address, dtype=np.uint64), self.threads)[own]
        places = (every & np.uint64(~SHARED_WINDOW & 0xFFFFFFFFFFFFFFFF)).astype(np.int64)
        if access.size == 0 or (places >> RANK_SHIFT != rank).any():
            return False
        places = (places & OFFSET_MASK)[:, None] + np.arange(access.size)
        if places.max() >= _BYTES:
            return False
        found = any(
            self._meets(places, own, writes) for writes in ((True, False) if access.writes else (True,))
        )
        threads, meetings = self.last[access.writes]
        threads[places] = own[:, None]
        meetings[places] = self.meetings[own][:, None]
        return found

    def _meets(self, places: _Numbers, own: _Numbers, writes: bool) -> bool:
        threads, meetings = self.last[writes]
        others = threads[places]
        same_warp = (others >= 0) & (others // _WARP == own[:, None] // _WARP) & (others != own[:, None])
        return bool((same_warp & (meetings[places] == self.meetings[own][:, None])).any())
