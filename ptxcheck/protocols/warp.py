"""What brings the lanes of a warp together (PTX ISA, "bar.warp.sync", "elect.sync").

Election waits for all lanes too, and orders no memory. The lanes that come together meet; whether those are the lanes
of the mask is the business of the rules on masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence

_WARP = 32


def _sync(occurrence: Occurrence) -> Iterator[Action]:
    yield meeting(occurrence, orders=True)


def _elect(occurrence: Occurrence) -> Iterator[Action]:
    yield meeting(occurrence, orders=False)


def meeting(occurrence: Occurrence, *, orders: bool) -> Rendezvous:
    """Return the meeting of the lanes of a warp that come to an instruction together."""
    warp = occurrence.warp
    together = occurrence.event.threads >> warp * _WARP & ((1 << _WARP) - 1)
    name = ("warp", occurrence.rank, warp, occurrence.event.index)
    needed = together.bit_count()
    return Rendezvous(occurrence.point, name, occurrence.count, needed, waits=True, orders=orders)


MEANINGS: Mapping[Op, Lower] = {Op.BAR_WARP_SYNC: _sync, Op.ELECT_SYNC: _elect}
