"""Tensor memory of a pair that is allocated and freed with no meeting of the two CTAs between.

Checks: feasible paths from a `tcgen05.alloc.cta_group::2` to a `.dealloc` with no wait for the cluster and no mbarrier
operation between.
Why: both CTAs must have finished with the columns, and the peer with its own allocation, before either frees. Source:
PTX ISA §9.7.17.5; https://github.com/NVIDIA/cutlass/issues/3435.
Not checked: what is waited for between.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from ..verdict import Property
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import PAIR


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).pair_freed_alone():
        related = ((pair.first, "the allocation"),)
        yield Hit(pair.then, "the peer may not have finished its allocation", related=related)


RULE = Rule(
    id="TM037",
    name="pair-dealloc-without-peer",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.5",
    summary="A CTA of a pair frees tensor memory without having met its peer since the allocation.",
    consequence="Launch failure or a hang, depending on which CTA is ahead.",
    advice="Let the cluster meet (barrier.cluster) before the deallocation.",
    example=PAIR.variant("""
      @%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;
-     bar.sync 0;
+     barrier.cluster.arrive.aligned;
+     barrier.cluster.wait.aligned;

      @%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 128; // expect: TM037
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
