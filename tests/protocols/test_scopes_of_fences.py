"""Fences in front of relaxed arrivals at the barrier of the cluster, and numbers of named barriers."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

REMOTE = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1;
mapa.shared::cluster.u32 %r3, %r1, %r2; setp.eq.u32 %p9, %r9, 0;
@!%p9 bra X; st.shared.u32 [%r1], %r9; X:
{fence}
barrier.cluster.arrive.relaxed; barrier.cluster.wait;
ld.shared::cluster.u32 %r4, [%r3];
barrier.cluster.arrive; barrier.cluster.wait;
"""


def slots(fence: str) -> VerdictKind:
    text = kernel(REMOTE.format(fence=fence), threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    return kind(verified(text), Property.SLOT_SAFETY)


@pytest.mark.parametrize("fence", ["", "fence.acq_rel.cta;", "fence.sc.cta;", "membar.cta;"])
def test_other_ctas_may_not_see_the_store(fence: str) -> None:
    assert slots(fence) is VerdictKind.VIOLATED


@pytest.mark.parametrize("fence", ["fence.acq_rel.cluster;", "fence.acq_rel.gpu;", "membar.gl;"])
def test_other_ctas_see_the_store(fence: str) -> None:
    assert slots(fence) is VerdictKind.PROVED


@pytest.mark.parametrize(
    ("number", "threads", "verdict"),
    [(15, 64, VerdictKind.PROVED), (16, 64, VerdictKind.UNKNOWN), (1, 48, VerdictKind.UNKNOWN)],
)
def test_barriers_that_there_are(number: int, threads: int, verdict: VerdictKind) -> None:
    body = f"""
    mov.u32 %r9, %tid.x; mov.u32 %r1, {number}; mov.u32 %r2, {threads}; setp.ge.u32 %p1, %r9, %r2; @%p1 bra E;
    barrier.sync %r1, %r2;
    E:
    """
    assert kind(verified(kernel(body, threads=64)), Property.DEADLOCK_FREEDOM) is verdict


STORED = """
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
    body = STORED.format(written=written, copied=copied)
    assert kind(verified(kernel(body, threads=64)), Property.SLOT_SAFETY) is verdict


FAR = """
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
    body = FAR.format(stored=stored, fence=fence)
    text = kernel(body, threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    assert kind(verified(text), Property.SLOT_SAFETY) is verdict


@pytest.mark.parametrize(
    ("arrive", "verdict"),
    [
        ("barrier.cluster.arrive.aligned;", VerdictKind.PROVED),
        ("@%p9 bra A; barrier.cluster.arrive; bra B; A: barrier.cluster.arrive; B:", VerdictKind.PROVED),
        (
            "@%p9 bra A; barrier.cluster.arrive.aligned; bra B; A: barrier.cluster.arrive.aligned; B:",
            VerdictKind.UNKNOWN,
        ),
    ],
)
def test_lanes_come_to_an_aligned_barrier_of_the_cluster_together(arrive: str, verdict: VerdictKind) -> None:
    body = f"mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; {arrive} barrier.cluster.wait;"
    text = kernel(body, threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    assert kind(verified(text), Property.DEADLOCK_FREEDOM) is verdict
