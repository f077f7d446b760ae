"""Lanes that `elect.sync` chooses."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import WAIT_FOR_PHASE, kind, verified

ARRIVAL_OF_ELECTED_LANES = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; mov.u32 %r8, %laneid; setp.eq.u32 %p7, %r8, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 4; bar.sync 0;
elect.sync _|%p6, 0xffffffff;
@!%p6 bra U;
{guard} mbarrier.arrive.shared.b64 _, [%r1];
U:
"""


@pytest.mark.parametrize(
    ("guard", "expected"),
    [("", VerdictKind.PROVED), ("@%p7", VerdictKind.ASSUMES)],
    ids=["any lane", "lane 0"],
)
def test_any_lane_may_be_elected(guard: str, expected: VerdictKind) -> None:
    result = verified(
        kernel(ARRIVAL_OF_ELECTED_LANES.format(guard=guard) + WAIT_FOR_PHASE.format(name="0", parity=0))
    )
    assert kind(result, Property.DEADLOCK_FREEDOM) is expected
    assert [key for key, *_ in result.assumptions] == ([AssumptionKind.ELECT] if guard else [])
