"""Every instruction that the protocol of a kernel is made of, and which property each flaw breaks."""

from __future__ import annotations

from collections.abc import Mapping

from ...opcodes.op import Op
from ...verdict import Property
from . import (
    async_copy,
    bulk_copy,
    fences,
    launch_control,
    mbarrier,
    named_barrier,
    setmaxnreg,
    tcgen05,
    warp,
    wgmma,
)
from . import cluster_barrier as cluster
from .lowering import Lower
from .outcome import Flaw

MEANINGS: Mapping[Op, Lower] = {
    **mbarrier.MEANINGS,
    **bulk_copy.MEANINGS,
    **async_copy.MEANINGS,
    **named_barrier.MEANINGS,
    **cluster.MEANINGS,
    **warp.MEANINGS,
    **fences.MEANINGS,
    **launch_control.MEANINGS,
    **setmaxnreg.MEANINGS,
    **wgmma.MEANINGS,
    **tcgen05.MEANINGS,
}

PROPERTY_OF: Mapping[Flaw, Property] = {
    Flaw.DEADLOCK: Property.DEADLOCK_FREEDOM,
    Flaw.OVER_ARRIVAL: Property.PHASE_SAFETY,
    Flaw.EARLY_ARRIVAL: Property.PHASE_SAFETY,
    Flaw.MISSED_PHASE: Property.PHASE_SAFETY,
    Flaw.LATE_OBSERVER: Property.PHASE_SAFETY,
    Flaw.EARLY_WAIT: Property.PHASE_SAFETY,
    Flaw.COUNT_MISMATCH: Property.PHASE_SAFETY,
    Flaw.EARLY_TRANSFER: Property.TX_BALANCE,
    Flaw.LATE_EXPECT: Property.TX_BALANCE,
    Flaw.LANE_NOT_IN_MASK: Property.PHASE_SAFETY,
    Flaw.TX_MISMATCH: Property.TX_BALANCE,
    Flaw.TX_RANGE: Property.TX_BALANCE,
    Flaw.UNINITIALISED: Property.LIFECYCLE,
    Flaw.DOUBLE_INIT: Property.LIFECYCLE,
    Flaw.UNORDERED_INIT: Property.LIFECYCLE,
    Flaw.ASKED_AFTER_REFUSAL: Property.LIFECYCLE,
    Flaw.EARLY_INVALIDATION: Property.LIFECYCLE,
    Flaw.BARRIER_OVERWRITTEN: Property.LIFECYCLE,
    Flaw.READ_TOO_EARLY: Property.SLOT_SAFETY,
    Flaw.OVERWRITE: Property.SLOT_SAFETY,
    Flaw.WRITES_COLLIDE: Property.SLOT_SAFETY,
    Flaw.AWAITED_BY_ANOTHER_WARP: Property.SLOT_SAFETY,
    Flaw.STORED_BY_ANOTHER_WARP: Property.SLOT_SAFETY,
    Flaw.UNRELEASED_STORE: Property.SLOT_SAFETY,
    Flaw.NARROW_ACQUIRE: Property.SLOT_SAFETY,
    Flaw.UNAWAITED_STORE: Property.SLOT_SAFETY,
    Flaw.MISSING_PROXY_FENCE: Property.SLOT_SAFETY,
    Flaw.FENCED_BEHIND_BARRIER: Property.SLOT_SAFETY,
    Flaw.FENCED_ON_THE_WAY: Property.SLOT_SAFETY,
    Flaw.UNFENCED_COPY: Property.SLOT_SAFETY,
    Flaw.OUTSIDE_ALLOCATION: Property.SLOT_SAFETY,
    Flaw.FREED_AMISS: Property.SLOT_SAFETY,
    Flaw.MISALIGNED_COPY: Property.SLOT_SAFETY,
    Flaw.SIZE_OF_COPY: Property.TX_BALANCE,
    Flaw.FOREIGN_SIGNAL: Property.TX_BALANCE,
    Flaw.COPY_TO_OWN_CTA: Property.SLOT_SAFETY,
    Flaw.EXIT_WITH_REMOTE_ACCESS: Property.EXIT_SAFETY,
}

SEPARATE = frozenset({Property.SLOT_SAFETY, Property.EXIT_SAFETY})
"""Properties whose failure changes no phase: the others are decided all the same."""


def changes_no_phase(flaw: Flaw) -> bool:
    """Tell whether threads wait and arrive as they would without a flaw, so that the rest can be judged behind it.

    A lane that its member mask does not name either faults, or goes on as if it were named (`benchmarks/hardware.md`).
    """
    return flaw is Flaw.LANE_NOT_IN_MASK or PROPERTY_OF[flaw] in SEPARATE
