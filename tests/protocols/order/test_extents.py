"""Copies whose size is not known: what the verdicts rest on."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

BEHIND = """
ld.param.u32 %r2, [n]; ld.param.u64 %rd1, [p]; shl.b32 %r2, %r2, 4; add.u32 %r2, %r2, 1024;
mov.u32 %r1, smem; mov.u32 %r9, %tid.x; setp.ne.u32 %p1, %r9, 0;
@%p1 bra INIT; mbarrier.init.shared::cta.b64 [%r1+{place}], 1; INIT: bar.sync 0;
@%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+{place}], %r2;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%rd1], %r2, [%r1+{place}];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+{place}], 0; @!%p2 bra WAIT;
"""


@pytest.mark.parametrize(("place", "expected"), [(1088, VerdictKind.ASSUMES), (0, VerdictKind.PROVED)])
def test_a_copy_of_unknown_size_may_reach_the_barrier_behind_it(place: int, expected: VerdictKind) -> None:
    result = verified(kernel(BEHIND.format(place=place), threads=64))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert kind(result, Property.LIFECYCLE) is expected
