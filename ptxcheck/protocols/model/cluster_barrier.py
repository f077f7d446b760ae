"""What the barrier of a cluster does (PTX ISA, "barrier.cluster").

Lanes that come to a wait wait there for the rest of their warp, without `.aligned`, too: ptxas 13.0 writes it so for
sm_90a (`WARPSYNC.COLLECTIVE.ALL` in front of `UCGABAR_WAIT`), and on an H100 a warp hangs whose lanes wait at different
places (`benchmarks/hardware/questions/cluster_wait_apart`). PTX says nothing of that, so it is not followed.
"""

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
    is_aligned = Trait.ALIGNED in occurrence.operation.traits
    if (is_aligned or waits) and not comes_whole(occurrence):
        which = "an aligned barrier" if is_aligned else "a wait for the barrier"
        raise NotFollowedError(f"some lanes of a warp come to {which} of the cluster", occurrence.point)
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
