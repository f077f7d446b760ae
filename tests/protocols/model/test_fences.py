"""Scopes of fences, and the sides of a proxy fence."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

STORE_READ_BY_ANOTHER_CTA = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1;
mapa.shared::cluster.u32 %r3, %r1, %r2; setp.eq.u32 %p9, %r9, 0;
@!%p9 bra X; st.shared.u32 [%r1], %r9; X:
{fence}
barrier.cluster.arrive.relaxed; barrier.cluster.wait;
ld.shared::cluster.u32 %r4, [%r3];
barrier.cluster.arrive; barrier.cluster.wait;
"""


def slot_safety(fence: str) -> VerdictKind:
    text = kernel(STORE_READ_BY_ANOTHER_CTA.format(fence=fence), threads=64).replace(
        "{\n", ".reqnctapercluster 2\n{\n", 1
    )
    return kind(verified(text), Property.SLOT_SAFETY)


@pytest.mark.parametrize("fence", ["", "fence.acq_rel.cta;", "fence.sc.cta;", "membar.cta;"])
def test_other_ctas_may_not_see_the_store(fence: str) -> None:
    assert slot_safety(fence) is VerdictKind.VIOLATED


@pytest.mark.parametrize("fence", ["fence.acq_rel.cluster;", "fence.acq_rel.gpu;", "membar.gl;"])
def test_other_ctas_see_the_store(fence: str) -> None:
    assert slot_safety(fence) is VerdictKind.PROVED


STORE_COPIED_BY_ANOTHER_WARP = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; ld.param.u64 %rd1, [p];
@!%p9 bra X; st.shared.u32 [%r1], %r9; X: {written}
bar.sync 0;
setp.ne.u32 %p8, %r9, 32; @%p8 bra E; {copied}
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
E:
"""
RELEASE = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"
ACQUIRE = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"


@pytest.mark.parametrize(
    ("written", "copied", "verdict"),
    [
        ("fence.proxy.async.shared::cta;", "", VerdictKind.PROVED),
        (RELEASE, ACQUIRE, VerdictKind.PROVED),
        (RELEASE, "", VerdictKind.VIOLATED),
        (ACQUIRE, "", VerdictKind.VIOLATED),
        ("", ACQUIRE, VerdictKind.VIOLATED),
    ],
)
def test_the_side_that_acquires_is_not_that_of_the_writer(
    written: str, copied: str, verdict: VerdictKind
) -> None:
    body = STORE_COPIED_BY_ANOTHER_WARP.format(written=written, copied=copied)
    assert kind(verified(kernel(body, threads=64)), Property.SLOT_SAFETY) is verdict
