"""`barrier.cluster.wait` by a thread that has not arrived.

Checks: feasible paths from the start, or from the last wait, to a wait with no arrival on the way.
Why: each thread arrives once and then waits once in each round of the cluster barrier.
Source: PTX ISA 9.7.14.3.
Not checked: device functions, and calls that may arrive.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.cluster_barrier import ClusterBarrier
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 9.0
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out) .reqntid 128 .reqnctapercluster 2
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra $wait;
    barrier.cluster.arrive.aligned;
$wait:
    barrier.cluster.wait.aligned; // expect: CL001
    ret;
}
"""

_GOOD = """
.version 9.0
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out) .reqntid 128 .reqnctapercluster 2
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    barrier.cluster.arrive.aligned;
    @%p1 bra $wait;
    mov.b32 %r2, 1;
$wait:
    barrier.cluster.wait.aligned;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for slip in view.get(ClusterBarrier).waits_without_arrival():
        if slip.before is None:
            yield Hit(slip.point, "a thread gets here without having arrived at the cluster barrier")
        else:
            message = "a thread waits again without having arrived since its last wait"
            yield Hit(slip.point, message, related=((slip.before, "the last wait"),))


RULE = Rule(
    id="CL001",
    name="cluster-wait-without-arrive",
    severity=Severity.HANG,
    since="0.1",
    section="PTX ISA 9.7.14.3",
    summary="A thread waits at the cluster barrier without having arrived for this round.",
    consequence="The wait hangs, or passes on the strength of the round before.",
    advice="Arrive (barrier.cluster.arrive) on every path to the wait.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
