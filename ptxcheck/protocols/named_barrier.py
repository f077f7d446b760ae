"""What named barriers and the cluster barrier do (PTX ISA, "barrier", "barrier.cluster")."""

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
    """Barriers count whole warps; without a count every thread of the CTA takes part."""
    needed = occurrence.shape.threads
    if occurrence.has("threads"):
        needed = occurrence.number("threads")
    name = ("bar", occurrence.rank, occurrence.number("barrier"))
    return Rendezvous(occurrence.point, name, _counted(occurrence), needed, waits)


def _counted(occurrence: Occurrence) -> int:
    """Return the threads that count: a warp counts as a whole, once for all of its lanes that come together."""
    first = (occurrence.threads & -occurrence.threads).bit_length() - 1
    start = first // _WARP * _WARP
    together = occurrence.event.threads >> start & ((1 << _WARP) - 1)
    size = min(_WARP, occurrence.shape.threads - start)
    leads = together & -together == 1 << first - start
    return occurrence.count + (size - together.bit_count() if leads else 0)


def _cluster_arrive(occurrence: Occurrence) -> Iterator[Action]:
    yield _cluster(occurrence, waits=False, arrives=True)


def _cluster_wait(occurrence: Occurrence) -> Iterator[Action]:
    yield _cluster(occurrence, waits=True, arrives=False)


def _cluster(occurrence: Occurrence, *, waits: bool, arrives: bool) -> Rendezvous:
    needed = occurrence.shape.threads * occurrence.shape.ctas
    return Rendezvous(occurrence.point, ("cluster",), occurrence.count, needed, waits, arrives)


MEANINGS: Mapping[Op, Lower] = {
    Op.BAR_SYNC: _sync,
    Op.BAR_ARRIVE: _arrive,
    Op.BAR_RED: _sync,
    Op.BARRIER_CLUSTER_ARRIVE: _cluster_arrive,
    Op.BARRIER_CLUSTER_WAIT: _cluster_wait,
}
