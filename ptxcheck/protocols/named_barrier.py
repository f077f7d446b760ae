"""What named barriers do (PTX ISA, "barrier")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence

_WARP = 32


def _sync(occurrence: Occurrence) -> Iterator[Action]:
    yield _named(occurrence, waits=True)


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    yield _named(occurrence, waits=False)


def _named(occurrence: Occurrence, *, waits: bool) -> Rendezvous:
    """Without a count, or with a count of zero, every thread of the CTA takes part that has not ended."""
    needed = occurrence.number("threads") if occurrence.has("threads") else 0
    name = ("bar", occurrence.rank, occurrence.number("barrier"))
    return Rendezvous(
        occurrence.point, name, _counted(occurrence), needed or _whole(occurrence.shape.threads), waits,
        without_exited=not needed,
    )  # fmt: skip


def _whole(threads: int) -> int:
    """Return the threads of whole warps: a last warp that is not full counts like a full one."""
    return -(-threads // _WARP) * _WARP


def _counted(occurrence: Occurrence) -> int:
    """Return the threads that count: a warp counts as a whole, once for all of its lanes that come together."""
    first = (occurrence.threads & -occurrence.threads).bit_length() - 1
    start = first // _WARP * _WARP
    together = occurrence.event.threads >> start & ((1 << _WARP) - 1)
    return occurrence.count + (_WARP - together.bit_count() if occurrence.leads else 0)


MEANINGS: Mapping[Op, Lower] = {Op.BAR_SYNC: _sync, Op.BAR_ARRIVE: _arrive, Op.BAR_RED: _sync}
