"""The barrier of the cluster: lanes come to an aligned one together, and to any wait."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified


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


@pytest.mark.parametrize(
    ("wait", "verdict"),
    [
        ("barrier.cluster.wait;", VerdictKind.PROVED),
        ("@%p9 bra A; barrier.cluster.wait; A: @!%p9 bra B; barrier.cluster.wait; B:", VerdictKind.UNKNOWN),
        (
            "@!%p9 bra A; barrier.cluster.wait; A: bar.warp.sync -1; @%p9 bra B; barrier.cluster.wait; B:",
            VerdictKind.UNKNOWN,
        ),
        (
            "shr.u32 %r8, %r9, 5; setp.eq.u32 %p9, %r8, 0;"
            "@%p9 bra A; barrier.cluster.wait; bra B; A: barrier.cluster.wait; B:",
            VerdictKind.PROVED,
        ),
    ],
)
def test_lanes_that_wait_for_a_cluster_apart_hang_and_are_not_proved(wait: str, verdict: VerdictKind) -> None:
    """Measured on an H100: `benchmarks/hardware/questions/cluster_wait_apart`. Whole warps may wait at two places."""
    body = f"mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; barrier.cluster.arrive; {wait}"
    text = kernel(body, threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    assert kind(verified(text), Property.DEADLOCK_FREEDOM) is verdict
