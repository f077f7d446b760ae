"""An allocation for a pair of CTAs before the two have met.

Checks: allocations for a pair in a run of the whole kernel, for whether their warp knows of something that the other
CTA has done. Without verification: feasible paths from the start to a `tcgen05.alloc.cta_group::2` with no wait for the
cluster and no mbarrier operation before, which is possible only.
Why: the warp must make sure that the peer runs, and that nothing of its shared memory is still to be initialised.
Tutorials of CUTLASS do so all the same, and run as a rule, so it is pedantic. Source: PTX ISA §9.7.17.5;
https://github.com/NVIDIA/cutlass/pull/3316.
Not checked: what an mbarrier before is waited for, without verification.
"""

from ..explain.violations import whole_kernel
from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import PAIR
from .violations import of_axioms

_KNOWN = of_axioms("TM034")


def check(view: KernelView) -> Hits:
    whole = view.get(whole_kernel)
    if whole is not None and whole.result.runs:
        yield from _KNOWN(view)
        return
    for point in view.get(TensorMemoryUse).pair_before_peer():
        yield Hit(point, "the peer may not have started", confidence=Confidence.POSSIBLE)


RULE = Rule(
    id="TM034",
    name="pair-allocation-before-peer",
    severity=Severity.HANG,
    section="PTX ISA §9.7.17.5",
    summary="Tensor memory of a pair is allocated before the peer is known to run.",
    consequence="A hang, or an address that the peer overwrites, now and then.",
    advice="Execute barrier.cluster.arrive and .wait before the allocation.",
    example=PAIR.variant("""
+     barrier.cluster.arrive.aligned;
+     barrier.cluster.wait.aligned;
      @%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128; // expect: TM034
"""),
    check=check,
    pedantic=True,
)
