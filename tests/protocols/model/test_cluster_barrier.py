"""The barrier of the cluster: lanes come to an aligned one together."""

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
