"""A kernel that ends between `barrier.cluster.arrive` and its wait.

Checks: feasible paths from an arrival to the end of the kernel with no wait.
Why: a CTA that leaves without waiting frees its shared memory while its peers may still reach into it; the arrival was
there to prevent that. A thread that arrives only to be counted is harmless, so the rule is pedantic.
Not checked: device functions.
"""

from ..protocols.typestate.cluster_barrier import ClusterBarrier
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for slip in view.get(ClusterBarrier).arrivals_without_wait():
        related = () if slip.before is None else ((slip.before, "the arrival"),)
        yield Hit(slip.point, "a thread ends here without having waited since it arrived", related=related)


RULE = Rule(
    id="CL003",
    name="unmatched-cluster-arrive",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.3",
    summary="A thread ends between an arrival at the cluster barrier and the wait for it.",
    consequence="Its CTA may be gone when a peer reaches into its shared memory.",
    advice="Wait (barrier.cluster.wait) before the end.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      barrier.cluster.arrive.aligned;
+     barrier.cluster.wait.aligned;
      ret; // expect: CL003
"""),
    check=check,
    pedantic=True,
)
