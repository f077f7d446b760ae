"""A relaxed arrival at the cluster barrier that is to publish shared memory.

Checks: a store to a shared variable, then `barrier.cluster.arrive.relaxed` with no fence of cluster scope or
wider reachable in between, and after it a load of the same bytes from another CTA.
Why: `.relaxed` orders nothing, and a barrier of the block orders for the block alone. Histograms published
this way were read stale (sgl-project/sglang #38829).
Source: PTX ISA 9.7.14.3: "arrive.relaxed … no memory ordering".
Not checked: bytes whose equality cannot be seen; atomics and asynchronous copies.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.cluster_memory import ClusterMemory
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
    .shared .align 4 .b32 data;
    mov.b32 %r1, 7;
    mov.u32 %r2, data;
    st.shared.b32 [%r2], %r1;
    bar.sync 0;
    barrier.cluster.arrive.relaxed.aligned; // expect: CL004
    barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r3, %r2, 1;
    ld.shared::cluster.b32 %r4, [%r3];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
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
    .shared .align 4 .b32 data;
    mov.b32 %r1, 7;
    mov.u32 %r2, data;
    st.shared.b32 [%r2], %r1;
    bar.sync 0;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r3, %r2, 1;
    ld.shared::cluster.b32 %r4, [%r3];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for found in view.get(ClusterMemory).unpublished():
        yield Hit(
            found.arrival,
            "this relaxed arrival does not publish the bytes that another CTA reads after the barrier",
            related=((found.store, "written here"), (found.load, "read here")),
        )


RULE = Rule(
    id="CL004",
    name="relaxed-cluster-arrive-as-release",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.3",
    summary="Bytes written before a relaxed arrival are read by another CTA after the barrier.",
    consequence="The reader may see old bytes.",
    advice="Drop .relaxed (the default is .release), or put fence.acq_rel.cluster before the arrival.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
