"""What named barriers do (PTX ISA, "barrier")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..symex.values.symbol import Form
from ..symex.values.trace import NotFollowedError
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence
from .sync_objects import NamedBarrier

_WARP = 32
_BARRIERS = 16


def _sync(occurrence: Occurrence) -> Iterator[Action]:
    yield _named(occurrence, waits=True)


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    yield _named(occurrence, waits=False)


def _named(occurrence: Occurrence, *, waits: bool) -> Rendezvous:
    """Without a count, or with a count of zero, every thread of the CTA takes part that has not ended."""
    needed = occurrence.number("threads") if occurrence.has("threads") else 0
    barrier = occurrence.number("barrier")
    if barrier >= _BARRIERS:
        raise NotFollowedError(f"barrier {barrier}: a CTA has {_BARRIERS}", occurrence.point)
    if needed % _WARP:
        raise NotFollowedError(f"a barrier of {needed} threads, which are no whole warps", occurrence.point)
    name = NamedBarrier(occurrence.rank, barrier)
    return Rendezvous(
        occurrence.point, name, _counted(occurrence), needed or _whole(occurrence.shape.threads), waits,
        without_exited=not needed, parted=_parted(occurrence),
    )  # fmt: skip


def _whole(threads: int) -> int:
    """Return the threads of whole warps: a last warp that is not full counts like a full one."""
    return -(-threads // _WARP) * _WARP


def _parted(occurrence: Occurrence) -> int:
    together = _together(occurrence)
    barrier = occurrence.event.operands["barrier"]
    if _is_aligned(occurrence) and not isinstance(barrier, int | Form):
        named = barrier[_start(occurrence) : _start(occurrence) + _WARP]
        if len({int(each) for lane, each in enumerate(named) if together >> lane & 1}) > 1:
            raise NotFollowedError("lanes of one warp name different barriers", occurrence.point)
    return 0 if comes_whole(occurrence) or not _is_aligned(occurrence) else together


def comes_whole(occurrence: Occurrence) -> bool:
    """Tell whether all lanes of the warp come together."""
    return _together(occurrence).bit_count() == _lanes(occurrence)


def _is_aligned(occurrence: Occurrence) -> bool:
    return Trait.ALIGNED in occurrence.operation.traits


def _lanes(occurrence: Occurrence) -> int:
    """Return the threads of the warp of a strand."""
    return min(_WARP, occurrence.shape.threads - _start(occurrence))


def _start(occurrence: Occurrence) -> int:
    first = (occurrence.threads & -occurrence.threads).bit_length() - 1
    return first // _WARP * _WARP


def _together(occurrence: Occurrence) -> int:
    """Return the lanes of the warp that come together, as bits."""
    return occurrence.event.threads >> _start(occurrence) & ((1 << _WARP) - 1)


def _counted(occurrence: Occurrence) -> int:
    """Return the threads that count.

    At an aligned barrier a warp counts as a whole, once for all of its lanes that come together. At others each
    thread counts, and a last warp that is not full like a full one.
    """
    if not occurrence.leads:
        return occurrence.count
    present = _together(occurrence).bit_count() if _is_aligned(occurrence) else _lanes(occurrence)
    return occurrence.count + _WARP - present


MEANINGS: Mapping[Op, Lower] = {Op.BAR_SYNC: _sync, Op.BAR_ARRIVE: _arrive, Op.BAR_RED: _sync}
