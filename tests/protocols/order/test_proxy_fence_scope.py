"""Proxy fences of one CTA, and stores into another."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

STORE_INTO_ANOTHER_CTA = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1; ld.param.u64 %rd1, [p];
mapa.shared::cluster.u32 %r3, %r1, %r2; setp.eq.u32 %p9, %r9, 0;
barrier.cluster.arrive; barrier.cluster.wait;
@!%p9 bra X; st.shared::cluster.u32 [{stored}], %r9; {fence} X:
barrier.cluster.arrive; barrier.cluster.wait;
@!%p9 bra E; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:
"""


@pytest.mark.parametrize(
    ("stored", "fence", "verdict"),
    [
        ("%r3", "fence.proxy.async;", VerdictKind.PROVED),
        ("%r3", "fence.proxy.async.shared::cluster;", VerdictKind.PROVED),
        ("%r3", "fence.proxy.async.shared::cta;", VerdictKind.UNKNOWN),
        ("%r3+64", "fence.proxy.async.shared::cta;", VerdictKind.PROVED),
        ("%r1", "fence.proxy.async.shared::cta;", VerdictKind.PROVED),
        ("%r3", "", VerdictKind.VIOLATED),
    ],
)
def test_a_fence_of_the_cta_is_not_for_stores_into_another(
    stored: str, fence: str, verdict: VerdictKind
) -> None:
    body = STORE_INTO_ANOTHER_CTA.format(stored=stored, fence=fence)
    text = kernel(body, threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    assert kind(verified(text), Property.SLOT_SAFETY) is verdict
