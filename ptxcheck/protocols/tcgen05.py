"""What tcgen05 commits do to mbarriers (PTX ISA, "tcgen05.commit")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, AsyncArrive, Barrier
from .lowering import Lower, Occurrence


def _commit(occurrence: Occurrence) -> Iterator[Action]:
    for barrier, threads in occurrence.barriers("mbar"):
        if not occurrence.has("mask"):
            yield AsyncArrive(occurrence.point, barrier, threads)
            continue
        mask = occurrence.number("mask")
        for rank in range(occurrence.shape.ctas):
            if mask >> rank & 1:
                yield AsyncArrive(occurrence.point, Barrier(rank, barrier.offset), threads)


MEANINGS: Mapping[Op, Lower] = {Op.TCGEN05_COMMIT: _commit}
