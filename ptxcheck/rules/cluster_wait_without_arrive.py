"""`barrier.cluster.wait` by a thread that has not arrived.

Checks: feasible paths from the start, or from the last wait, to a wait with no arrival on the way.
Why: each thread arrives once and then waits once in each round of the cluster barrier.
Not checked: device functions, and calls that may arrive.
"""

from ..protocols.typestate.cluster_barrier import ClusterBarrier
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
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
    section="PTX ISA §9.7.14.3",
    summary="A thread waits at the cluster barrier without having arrived for this round.",
    consequence="The wait hangs, or passes on the strength of the round before.",
    advice="Arrive (barrier.cluster.arrive) on every path to the wait.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 32;
+     barrier.cluster.arrive.aligned;
      @%p1 bra $wait;
-     barrier.cluster.arrive.aligned;
+     mov.b32 %r2, 1;
  $wait:
      barrier.cluster.wait.aligned; // expect: CL001
      ret;
"""),
    check=check,
    approximates=(Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY),
)
