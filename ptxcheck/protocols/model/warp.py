"""What brings the lanes of a warp together (PTX ISA, "bar.warp.sync", "elect.sync").

All but `bar.warp.sync` order no memory. Lanes of the mask that do not come along are waited for until they come to the
same kind of instruction with the same mask, or end. A lane that its mask does not name must not come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...opcodes.op import Op
from ..symex.values.symbol import Form
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence
from .sync_objects import DivergentWarpBarrier, WarpBarrier

_WARP = 32
_FULL = (1 << _WARP) - 1


def _sync(occurrence: Occurrence) -> Iterator[Action]:
    yield from _meetings(occurrence, orders=True)


def _unordered(occurrence: Occurrence) -> Iterator[Action]:
    yield from _meetings(occurrence, orders=False)


def meeting(occurrence: Occurrence, *, orders: bool, unnamed: int = 0) -> Rendezvous:
    """Return the meeting of the lanes of a warp that come to an instruction together."""
    name = WarpBarrier(occurrence.rank, occurrence.warp, occurrence.event.index)
    needed = _together(occurrence).bit_count()
    return Rendezvous(
        occurrence.point, name, occurrence.count, needed, waits=True, orders=orders, unnamed=unnamed
    )


def _meetings(occurrence: Occurrence, *, orders: bool) -> Iterator[Rendezvous]:
    """Yield the meetings of the lanes of a warp that come to an instruction together, or wait there for others."""
    own = occurrence.threads >> occurrence.warp * _WARP & _FULL
    named = _named(occurrence)
    unnamed = sum(lanes & own & ~mask for mask, lanes in named.items())
    if unnamed:
        yield meeting(occurrence, orders=orders, unnamed=unnamed)
        return
    for mask, lanes in named.items():
        if lanes & own:
            yield _meeting(occurrence, mask, lanes, orders=orders)


def _meeting(occurrence: Occurrence, mask: int, lanes: int, *, orders: bool) -> Rendezvous:
    """Return the meeting of lanes that name one mask, of which `lanes` come together."""
    own = (occurrence.threads >> occurrence.warp * _WARP & lanes).bit_count()
    wanted = mask & _there(occurrence)
    if not wanted & ~lanes:
        part = 0 if lanes == _together(occurrence) else lanes
        warp_barrier = WarpBarrier(occurrence.rank, occurrence.warp, occurrence.event.index, part)
        return Rendezvous(occurrence.point, warp_barrier, own, lanes.bit_count(), waits=True, orders=orders)
    name = DivergentWarpBarrier(occurrence.rank, occurrence.warp, occurrence.operation.text, wanted)
    return Rendezvous(
        occurrence.point, name, own, wanted.bit_count(), waits=True, orders=orders, without_exited=True
    )


def _named(occurrence: Occurrence) -> Mapping[int, int]:
    """Return the lanes that come together by the mask that each of them names, one that is not known for theirs."""
    together = _together(occurrence)
    mask = occurrence.event.operands.get("member_mask")
    if mask is None or isinstance(mask, Form):
        return {together: together}
    if isinstance(mask, int):
        return {mask & _FULL: together}
    found: dict[int, int] = {}
    for lane in range(together.bit_length()):
        if together >> lane & 1:
            each = int(mask[occurrence.warp * _WARP + lane]) & _FULL
            found[each] = found.get(each, 0) | 1 << lane
    return found


def _together(occurrence: Occurrence) -> int:
    return occurrence.event.threads >> occurrence.warp * _WARP & _FULL


def _there(occurrence: Occurrence) -> int:
    """Return the lanes of the warp that the block has."""
    return (1 << occurrence.shape.threads) - 1 >> occurrence.warp * _WARP & _FULL


MEANINGS: Mapping[Op, Lower] = {
    Op.BAR_WARP_SYNC: _sync,
    Op.ELECT_SYNC: _unordered,
    Op.SHFL_SYNC: _unordered,
    Op.VOTE_SYNC: _unordered,
    Op.MATCH_SYNC: _unordered,
    Op.REDUX_SYNC: _unordered,
}
