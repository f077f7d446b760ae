"""An allocation of tensor memory that waits for columns that only its own thread could free.

Checks: two allocations on a feasible path that need more than 512 columns together, in kernels whose deallocations all
come after the second.
Why: `tcgen05.alloc` blocks until there are enough columns; a multiprocessor has 512.
Not checked: three and more allocations; other blocks on the multiprocessor.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemory).oversubscribed():
        related = ((pair.first, "the allocation before"),)
        yield Hit(pair.then, "this needs more columns than the one before leaves of 512", related=related)


RULE = Rule(
    id="TM006",
    name="tmem-oversubscription",
    severity=Severity.HANG,
    section="PTX ISA §9.7.17.7",
    summary="Allocations of tensor memory need more than 512 columns together.",
    consequence="The second allocation waits for ever.",
    advice="Allocate once, or free before the next allocation.",
    example=ALLOCATION.variant("""
=     .shared .align 4 .b32 slot;
      .shared .align 4 .b32 slot;
      .shared .align 4 .b32 slot2;

=     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
-     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;
-     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot2], 512; // expect: TM006
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 256;
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot2], 256;

=     bar.sync 0;
=     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
-     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512;
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 256;
      ld.shared.b32 %r3, [slot2];
-     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512;
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 256;
"""),
    check=check,
)
