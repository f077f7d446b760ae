"""What the barrier of a cluster does (PTX ISA, "barrier.cluster")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..symex.values.trace import NotFollowedError
from .actions import Action, Rendezvous
from .lowering import Lower, Occurrence
from .named_barrier import comes_whole
from .sync_objects import ClusterBarrier


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    yield _cluster(occurrence, waits=False, orders=not occurrence.operation.has(Mod.RELAXED))


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    yield _cluster(occurrence, waits=True, orders=True)


def _cluster(occurrence: Occurrence, *, waits: bool, orders: bool) -> Rendezvous:
    if Trait.ALIGNED in occurrence.operation.traits and not comes_whole(occurrence):
        raise NotFollowedError(
            "some lanes of a warp come to an aligned barrier of the cluster", occurrence.point
        )
    needed = occurrence.shape.threads * occurrence.shape.ctas
    return Rendezvous(
        occurrence.point,
        ClusterBarrier(),
        occurrence.count,
        needed,
        waits,
        not waits,
        orders,
        without_exited=True,
    )


MEANINGS: Mapping[Op, Lower] = {Op.BARRIER_CLUSTER_ARRIVE: _arrive, Op.BARRIER_CLUSTER_WAIT: _wait}
