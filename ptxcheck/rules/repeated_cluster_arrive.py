"""`barrier.cluster.arrive` by a thread that has arrived and not waited since.

Checks: feasible paths from an arrival to the next with no wait between.
Why: a thread that arrives twice is counted twice, and the barrier completes while a peer is missing. Source: PTX ISA
9.7.14.3: each thread arrives once in each round.
Not checked: calls that may wait.
"""

from ..protocols.typestate.cluster_barrier import ClusterBarrier
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for slip in view.get(ClusterBarrier).repeated_arrivals():
        related = () if slip.before is None else ((slip.before, "the arrival before"),)
        yield Hit(slip.point, "a thread arrives here again without having waited in between", related=related)


RULE = Rule(
    id="CL002",
    name="repeated-cluster-arrive",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.3",
    summary="A thread arrives at the cluster barrier twice with no wait in between.",
    consequence="The barrier completes before all threads of the cluster have arrived.",
    advice="Wait (barrier.cluster.wait) before arriving again.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      barrier.cluster.arrive.aligned;
+     barrier.cluster.wait.aligned;
      barrier.cluster.arrive.aligned; // expect: CL002
      barrier.cluster.wait.aligned;
      ret;
"""),
    check=check,
    approximates=(Property.PHASE_SAFETY,),
)
