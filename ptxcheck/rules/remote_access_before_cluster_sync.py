"""Shared memory of another CTA accessed before anything tells that this CTA runs.

Checks: addresses from `mapa`, in kernels with a known cluster of two or more CTAs, on a path from the entry with no
cluster barrier, mbarrier wait, atomic or ordered load before.
Why: CTAs of a cluster start together, but not at one moment. The first instructions of one may reach another whose
shared memory is not set up (facebookexperimental/triton #2292, #652). Source: CUDA programming guide, "Distributed
shared memory": all blocks must have started executing.
Not checked: multicast copies; branches that go by the rank.
"""

from ..protocols.typestate.cluster_memory import ClusterMemory
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for point in view.get(ClusterMemory).before_start():
        yield Hit(point, "nothing on the way here tells that the other CTA has started")


RULE = Rule(
    id="CL010",
    name="remote-access-before-cluster-sync",
    severity=Severity.UNDEFINED,
    section="CUDA programming guide, distributed shared memory",
    summary="A thread reaches into another CTA's shared memory before it knows that the CTA has started.",
    consequence="The access faults or is lost.",
    advice="Let all threads arrive and wait at the cluster barrier first.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      .shared .align 4 .b32 data;
      mov.u32 %r2, data;
+     barrier.cluster.arrive.aligned;
+     barrier.cluster.wait.aligned;
      mapa.shared::cluster.u32 %r3, %r2, 0;
      st.shared::cluster.b32 [%r3], %r2; // expect: CL010
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ret;
"""),
    check=check,
)
