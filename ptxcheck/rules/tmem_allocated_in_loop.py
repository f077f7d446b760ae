"""A loop that allocates tensor memory and does not free it.

Checks: feasible paths from an allocation around a loop to itself with no deallocation. Possible only: how often the
loop runs is not known. What cannot fit twice is TM006.
Why: an allocation waits for free columns, and there are 512.
Not checked: loops that free in another warp.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import LOADED


def check(view: KernelView) -> Hits:
    for point in view.get(TensorMemoryUse).allocated_again():
        yield Hit(
            point, "a round of the loop comes back here with nothing freed", confidence=Confidence.POSSIBLE
        )


RULE = Rule(
    id="TM030",
    name="tmem-allocated-in-loop",
    severity=Severity.HANG,
    section="PTX ISA §9.7.17.7",
    summary="A loop allocates tensor memory in each round and frees none.",
    consequence="The kernel hangs in the round in which the columns run out.",
    advice="Allocate once before the loop, or free in each round.",
    example=LOADED.variant("""
=     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;
  $loop:
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128; // expect: TM030

=     bar.sync 0;
=     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
+     bar.sync 0;
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
      sub.u32 %r9, %r9, 1;
      setp.ne.u32 %p5, %r9, 0;
      @%p5 bra $loop;
-     bar.sync 0;
-     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
"""),
    check=check,
    confidence=Confidence.POSSIBLE,
)
