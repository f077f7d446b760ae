"""What the barrier of a warp does (PTX ISA, "bar.warp.sync").

The lanes that come together meet; whether those are the lanes of the mask is the business of the rules on masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence

_WARP = 32


def _sync(occurrence: Occurrence) -> Iterator[Action]:
    warp = ((occurrence.threads & -occurrence.threads).bit_length() - 1) // _WARP
    together = occurrence.event.threads >> warp * _WARP & ((1 << _WARP) - 1)
    name = ("warp", occurrence.rank, warp, occurrence.event.index)
    yield Rendezvous(occurrence.point, name, occurrence.count, together.bit_count(), waits=True)


MEANINGS: Mapping[Op, Lower] = {Op.BAR_WARP_SYNC: _sync}
