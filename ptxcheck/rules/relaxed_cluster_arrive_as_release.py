"""A relaxed arrival at the cluster barrier that is to publish shared memory.

Checks: a store to a shared variable, then `barrier.cluster.arrive.relaxed` with no fence of cluster scope or wider
reachable in between, and after it a load of the same bytes from another CTA.
Why: `.relaxed` orders nothing, and a barrier of the block orders for the block alone. Histograms published this way
were read stale (sgl-project/sglang #38829). Source: PTX ISA §9.7.14.3: "arrive.relaxed … no memory ordering".
Not checked: bytes whose equality cannot be seen; atomics and asynchronous copies.
"""

from ..protocols.typestate.cluster_memory import ClusterMemory
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
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
    section="PTX ISA §9.7.14.3",
    summary="Bytes written before a relaxed arrival are read by another CTA after the barrier.",
    consequence="The reader may see old bytes.",
    advice="Drop .relaxed (the default is .release), or put fence.acq_rel.cluster before the arrival.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      .shared .align 4 .b32 data;
      mov.b32 %r1, 7;
      mov.u32 %r2, data;
      st.shared.b32 [%r2], %r1;
      bar.sync 0;
-     barrier.cluster.arrive.relaxed.aligned; // expect: CL004
+     barrier.cluster.arrive.release.aligned;
      barrier.cluster.wait.aligned;
      mapa.shared::cluster.u32 %r3, %r2, 1;
      ld.shared::cluster.b32 %r4, [%r3];
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ret;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
