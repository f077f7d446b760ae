"""What brings the lanes of a warp together (PTX ISA, "bar.warp.sync", "elect.sync").

All but `bar.warp.sync` order no memory. Lanes of the mask that do not come along are waited for until they come to the
same kind of instruction with the same mask, or end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...opcodes.op import Op
from ..symex.values.symbol import Form
from ..symex.values.trace import NotFollowedError
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence
from .sync_objects import DivergentWarpBarrier, WarpBarrier

_WARP = 32
_FULL = (1 << _WARP) - 1


def _sync(occurrence: Occurrence) -> Iterator[Action]:
    yield meeting(occurrence, orders=True)


def _unordered(occurrence: Occurrence) -> Iterator[Action]:
    yield meeting(occurrence, orders=False)


def meeting(occurrence: Occurrence, *, orders: bool) -> Rendezvous:
    """Return the meeting of the lanes of a warp that come to an instruction together, or wait there for others."""
    warp = occurrence.warp
    together = occurrence.event.threads >> warp * _WARP & _FULL
    wanted = _wanted(occurrence)
    if wanted & ~together:
        return _with_others(occurrence, wanted, orders=orders)
    name = WarpBarrier(occurrence.rank, warp, occurrence.event.index)
    needed = together.bit_count()
    return Rendezvous(occurrence.point, name, occurrence.count, needed, waits=True, orders=orders)


def _wanted(occurrence: Occurrence) -> int:
    """Return the lanes that a mask names, none when it is not one number."""
    mask = occurrence.event.operands.get("member_mask", 0)
    if isinstance(mask, Form):
        return 0
    masks = occurrence.values("member_mask") if occurrence.has("member_mask") else {0: 1}
    there = (1 << occurrence.shape.threads) - 1 >> occurrence.warp * _WARP & _FULL
    return next(iter(masks)) & there if len(masks) == 1 else 0


def _with_others(occurrence: Occurrence, wanted: int, *, orders: bool) -> Rendezvous:
    """Return a meeting with lanes that come to another instruction of the same kind, or at another time."""
    own = occurrence.threads >> occurrence.warp * _WARP & _FULL
    if own & ~wanted:
        raise NotFollowedError("a lane comes here that the member mask does not name", occurrence.point)
    name = DivergentWarpBarrier(occurrence.rank, occurrence.warp, occurrence.operation.text, wanted)
    needed = wanted.bit_count()
    return Rendezvous(
        occurrence.point, name, occurrence.count, needed, waits=True, orders=orders, without_exited=True
    )


MEANINGS: Mapping[Op, Lower] = {
    Op.BAR_WARP_SYNC: _sync,
    Op.ELECT_SYNC: _unordered,
    Op.SHFL_SYNC: _unordered,
    Op.VOTE_SYNC: _unordered,
    Op.MATCH_SYNC: _unordered,
    Op.REDUX_SYNC: _unordered,
}
