"""What lanes of a warp copy asynchronously and have not waited for, each for itself.

Property: `LaneCopies.conflict` is true where a lane starts a copy of bytes that another lane of its warp has touched in
a conflicting way since they met. From the wait of a lane for its copy on, the copy is among what that lane has touched.

Argument: a copy is over for the lane that has waited for it, by its own group or at the mbarrier that it completes on
(PTX ISA, "cp.async.wait_group", "cp.async.bulk.wait_group"); where all of the lanes wait at one mbarrier, all know. A
copy that may not happen, as by a predicate that is not followed, counts as one of all lanes that may start it.

Not covered: copies before anybody has waited for them, and those that one lane of a warp starts alone: `memory` has
these. Of copies of unknown extent, what lies behind their first bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...opcodes.op import Op
from ...opcodes.spec import Operation
from ..model.bulk_copy import LEAST_BYTES
from ..symex.values.register_file import lanes_of
from ..symex.values.symbol import Form, Value
from ..symex.values.trace import Event
from .lane_touches import WARP, LaneTouches, Numbers, Truths, Way

_MOST_GROUPS = 1 << 31
_OF_THREADS = frozenset({Op.CP_ASYNC, Op.CP_ASYNC_COMMIT_GROUP, Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL})
_BULK = frozenset(
    {Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR, Op.CP_REDUCE_ASYNC_BULK, Op.CP_REDUCE_ASYNC_BULK_TENSOR}
)
_COMMITS = frozenset({Op.CP_ASYNC_COMMIT_GROUP, Op.CP_ASYNC_BULK_COMMIT_GROUP, Op.CP_ASYNC_WAIT_ALL})
_WAITS = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP})
COPIES = _OF_THREADS | _BULK | _COMMITS | _WAITS


@dataclass(slots=True)
class _Groups:
    """Copies of one pipeline that threads wait for by groups."""

    committed: Numbers
    """Groups that each thread has committed."""
    pending: list[tuple[Numbers, Numbers, Numbers]] = field(default_factory=list)
    """Bytes a row, threads, and the number of the group of each."""

    def finished(self, lanes: Truths, left: int) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield bytes and threads of copies that are over when some threads leave so many groups open."""
        still = []
        for places, own, group in self.pending:
            over = lanes[own] & (group < self.committed[own] - left)
            if over.any():
                yield places[over], own[over]
            if not over.all():
                still.append((places[~over], own[~over], group[~over]))
        self.pending = still


@dataclass(slots=True)
class LaneCopies:
    """What the lanes of a CTA have started and not waited for."""

    touched: LaneTouches
    _threads: _Groups = field(init=False)
    _bulk: _Groups = field(init=False)
    _signalled: dict[tuple[int, int], list[Numbers]] = field(init=False, default_factory=dict)
    """Bytes, a row for each thread, by the mbarrier that a copy completes on and the warp of the threads."""

    def __post_init__(self) -> None:
        self._threads = _Groups(np.zeros(self.touched.threads, dtype=np.int64))
        self._bulk = _Groups(np.zeros(self.touched.threads, dtype=np.int64))

    def conflict(self, operation: Operation, event: Event) -> bool:
        """Tell whether a copy touches what another lane has touched; note it, a commit or a wait."""
        op = operation.op
        lanes = lanes_of(event.threads, self.touched.threads)
        if op is Op.CP_ASYNC:
            return self._starts_copy_of_thread(event, np.flatnonzero(lanes))
        if op in _BULK:
            return self._starts_bulk_copy(operation, event, self._together(lanes))
        groups, way = (self._threads, Way.WRITE) if op in _OF_THREADS else (self._bulk, Way.READ)
        if op in _COMMITS:
            groups.committed[lanes] += 1
        left = event.operands.get("n") if op in _WAITS else 0 if op is Op.CP_ASYNC_WAIT_ALL else None
        if isinstance(left, int):
            for places, own in groups.finished(lanes, min(left, _MOST_GROUPS)):
                self.touched.note(places, own, way)
        return False

    def _together(self, lanes: Truths) -> Numbers:
        """Return the threads of warps of which more than one takes part."""
        own = np.flatnonzero(lanes)
        warps = own // WARP
        return own[np.bincount(warps, minlength=1)[warps] > 1] if len(own) else own

    def _starts_copy_of_thread(self, event: Event, own: Numbers) -> bool:
        size = event.operands["size"]
        if not isinstance(size, int):
            return False
        places = self._shared(event, "dst", size, own)
        if places is None:
            return False
        self._threads.pending.append((places, own, self._threads.committed[own]))
        return self.touched.meets(places, own, Way.WRITE)

    def _starts_bulk_copy(self, operation: Operation, event: Event, own: Numbers) -> bool:
        size = event.operands.get("size", LEAST_BYTES)
        length = size if isinstance(size, int) else LEAST_BYTES
        found = False
        into = self._shared(event, "dst", length, own) if "mbar" in event.operands else None
        if into is not None:
            found = self.touched.meets(into, own, Way.WRITE)
            barriers = self._each(event.operands["mbar"], own)
            if barriers is not None:
                for barrier, warp, lanes in _by_warp(barriers, own):
                    self._signalled.setdefault((barrier, warp), []).append(into[lanes])
        is_sent = "tensor_map" not in event.operands or "mbar" not in event.operands
        is_sent = is_sent and operation.slots.get("src_space", ".shared").startswith(".shared")
        source = self._shared(event, "src", length, own) if is_sent else None
        if source is not None:
            found |= self.touched.meets(source, own, Way.READ)
            if "mbar" not in event.operands:
                self._bulk.pending.append((source, own, self._bulk.committed[own]))
        return found

    def _shared(self, event: Event, name: str, size: int, own: Numbers) -> Numbers | None:
        """Return the bytes at an operand that lies in shared memory of the CTA, None where it does not."""
        return self.touched.places(event.operands.get(name), size, own)

    def _each(self, value: Value, own: Numbers) -> Numbers | None:
        if isinstance(value, Form):
            return None
        every = np.broadcast_to(np.asarray(value, dtype=np.uint64), self.touched.threads)
        found: Numbers = every[own].astype(np.int64)
        return found

    def wait(self, event: Event) -> None:
        """Note that threads have waited at an mbarrier: who knows alone of a copy has touched what it wrote."""
        own = np.flatnonzero(lanes_of(event.threads, self.touched.threads))
        barriers = self._each(event.operands["addr"], own) if self._signalled else None
        if barriers is None:
            return
        for barrier, warp, lanes in _by_warp(barriers, own):
            known = self._signalled.pop((barrier, warp), ())
            if lanes.sum() < (own // WARP == warp).sum():
                knowing = own[lanes][0]
                for places in known:
                    self.touched.note(places, np.full(len(places), knowing), Way.WRITE)


def _by_warp(barriers: Numbers, threads: Numbers) -> Iterator[tuple[int, int, Truths]]:
    """Yield mbarriers and warps, with which threads they are those of."""
    for barrier in np.unique(barriers).tolist():
        for warp in np.unique(threads[barriers == barrier] // WARP).tolist():
            yield barrier, warp, (barriers == barrier) & (threads // WARP == warp)
