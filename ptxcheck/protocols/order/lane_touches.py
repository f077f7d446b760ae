"""Which bytes of shared memory lanes of each warp have touched, and which of that the other lanes know.

Property: `LaneTouches.meets` is true where a lane touches bytes that another lane of its warp has touched in a
conflicting way, and nothing has brought the two together since.

Argument: each lane counts its meetings, and knows up to which one it knows of each other lane of its warp (vector
clocks). For each byte and way of touching it the last lane and the last other one are kept, with their counts: who
knows of the last write knows of those before it, and of two lanes that read, one at least is another one than a third.

Not covered: a third reader of which a lane does not know, where it knows of the last two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from ..symex.values.symbol import Form, Value
from ..symex.values.trace import OFFSET_MASK, RANK_SHIFT, SHARED_WINDOW

WARP = 32
BYTES = 1 << 18
"""More than the shared memory of a CTA."""
Numbers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


class Way(Enum):
    """How bytes are touched."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"


_AGAINST = {
    Way.READ: (Way.WRITE, Way.ATOMIC),
    Way.WRITE: (Way.READ, Way.WRITE, Way.ATOMIC),
    Way.ATOMIC: (Way.READ, Way.WRITE),
}
"""What each way of touching bytes conflicts with."""


@dataclass(slots=True)
class _Last:
    """For each warp and byte two lanes, counted from one (0: none), and how often they had met others by then."""

    lanes: tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]
    meetings: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]

    @classmethod
    def of(cls, warps: int) -> _Last:
        size = warps * BYTES
        return cls(
            (np.zeros(size, dtype=np.int8), np.zeros(size, dtype=np.int8)),
            (np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int32)),
        )

    def note(self, cells: Numbers, lanes: Numbers, meetings: Numbers) -> None:
        changed = self.lanes[0][cells] != lanes
        moved = cells[changed]
        self.lanes[1][moved], self.meetings[1][moved] = self.lanes[0][moved], self.meetings[0][moved]
        self.lanes[0][cells], self.meetings[0][cells] = lanes, meetings
        beaten = (
            self.lanes[0][cells] != lanes
        )  # by another lane that touches the same byte together with this one
        self.lanes[1][cells[beaten]] = lanes[beaten]
        self.meetings[1][cells[beaten]] = meetings[beaten]


@dataclass(slots=True)
class LaneTouches:
    """What the lanes of each warp of a CTA have touched since they met."""

    threads: int
    rank: int
    _met: Numbers = field(init=False)
    """How often each thread has met others."""
    _known: Numbers = field(init=False)
    """For each warp, lane and other lane: the meeting of the other one up to which the lane knows of it."""
    _last: dict[Way, _Last] = field(init=False)
    _is_news: bool = field(init=False, default=False)
    """Something was touched since all threads met."""

    def __post_init__(self) -> None:
        warps = -(-self.threads // WARP)
        self._met = np.zeros(warps * WARP, dtype=np.int64)
        self._known = np.zeros((warps, WARP, WARP), dtype=np.int64)
        self._last = {way: _Last.of(warps) for way in Way}

    def meet(self, lanes: Truths) -> None:
        """Note that those of some threads that are of one warp have met, in each warp."""
        if not self._is_news:
            return
        self._is_news = not lanes.all()
        self._met[: self.threads][lanes] += 1
        every = np.zeros(len(self._met), dtype=np.bool_)
        every[: self.threads] = lanes
        met = every.reshape(-1, WARP)
        warps = np.flatnonzero(met.any(axis=1))
        met, known = met[warps], self._known[warps]
        together = np.where(met[:, :, None], known, 0).max(axis=1)
        together = np.where(met, self._met.reshape(-1, WARP)[warps], together)
        self._known[warps] = np.where(met[:, :, None], together[:, None, :], known)

    def places(self, address: Value | None, size: int, own: Numbers) -> Numbers | None:
        """Return the bytes that each of the threads `own` touches, a row each; None where they are not the CTA's."""
        if size == 0 or address is None or isinstance(address, Form) or not len(own):
            return None
        every = np.broadcast_to(np.asarray(address, dtype=np.uint64), self.threads)[own]
        places = (every & np.uint64(~SHARED_WINDOW & 0xFFFFFFFFFFFFFFFF)).astype(np.int64)
        if (places >> RANK_SHIFT != self.rank).any():
            return None
        starts: Numbers = places & OFFSET_MASK
        return starts[:, None] + np.arange(size) if size <= BYTES - int(starts.max()) else None

    def note(self, places: Numbers, own: Numbers, way: Way) -> None:
        """Note who has touched bytes, a row of them for each thread."""
        self._is_news = True
        lanes = np.broadcast_to((own % WARP + 1)[:, None], places.shape).ravel()
        meetings = np.broadcast_to(self._met[own][:, None], places.shape).ravel()
        self._last[way].note(self._cells(places, own), lanes, meetings)

    def meets(self, places: Numbers, own: Numbers, way: Way) -> bool:
        """Tell whether another lane has touched bytes in a conflicting way, and has not been met since."""
        cells = self._cells(places, own)
        threads = np.broadcast_to(own[:, None], places.shape).ravel()
        return any(self._has_touched(self._last[before], cells, threads) for before in _AGAINST[way])

    def _has_touched(self, last: _Last, cells: Numbers, threads: Numbers) -> bool:
        own = threads % WARP + 1
        for lanes, meetings in zip(last.lanes, last.meetings, strict=True):
            others = lanes[cells].astype(np.int64)
            is_other = (others > 0) & (others != own)
            who = threads[is_other]
            known = self._known[who // WARP, who % WARP, others[is_other] - 1]
            if (known <= meetings[cells][is_other]).any():
                return True
        return False

    def _cells(self, places: Numbers, own: Numbers) -> Numbers:
        found: Numbers = ((own // WARP * BYTES)[:, None] + places).ravel()
        return found
