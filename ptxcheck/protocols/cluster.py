"""What the barrier of a cluster does (PTX ISA, "barrier.cluster")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..isa.modifier import Mod
from ..op import Op
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    yield _cluster(occurrence, waits=False, orders=not occurrence.operation.has(Mod.RELAXED))


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    yield _cluster(occurrence, waits=True, orders=True)


def _cluster(occurrence: Occurrence, *, waits: bool, orders: bool) -> Rendezvous:
    needed = occurrence.shape.threads * occurrence.shape.ctas
    return Rendezvous(
        occurrence.point,
        ("cluster",),
        occurrence.count,
        needed,
        waits,
        not waits,
        orders,
        without_exited=True,
    )


MEANINGS: Mapping[Op, Lower] = {Op.BARRIER_CLUSTER_ARRIVE: _arrive, Op.BARRIER_CLUSTER_WAIT: _wait}
