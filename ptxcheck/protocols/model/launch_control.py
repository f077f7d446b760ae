"""What the control of grids and clusters does (PTX ISA, "griddepcontrol", "clusterlaunchcontrol").

A wait for prerequisite grids ends by itself. A cancellation writes its response through the async proxy and
completes 16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...isa.modifier import Mod
from ...opcodes.op import Op
from .actions import (
    Action,
    Barrier,
    Span,
    Transfer,
)
from .lowering import Lower, Occurrence, nothing

RESPONSE_BYTES = 16


def _try_cancel(occurrence: Occurrence) -> Iterator[Action]:
    everywhere = occurrence.operation.has(Mod.MULTICAST_CLUSTER_ALL)
    for (response, mbar), threads in occurrence.rows("response", "mbar"):
        place, barrier = occurrence.span_at(response, RESPONSE_BYTES), occurrence.barrier_at(mbar)
        for rank in range(occurrence.shape.ctas) if everywhere else (place.cta,):
            signalled = Barrier(rank, barrier.offset) if everywhere else barrier
            span = Span(rank, place.start, place.size)
            yield Transfer(
                occurrence.point, ((signalled, RESPONSE_BYTES * threads),), writes=(span,),
                after_fenced_reads=True,
            )  # fmt: skip


MEANINGS: Mapping[Op, Lower] = {
    Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL: _try_cancel,
    Op.GRIDDEPCONTROL_WAIT: nothing,
    Op.GRIDDEPCONTROL_LAUNCH_DEPENDENTS: nothing,
}
