"""A `tcgen05.alloc` after `tcgen05.relinquish_alloc_permit`.

Checks: feasible paths of one thread from giving up the permit to an allocation.
Why: after any thread of the block gave up the permit, the block may not allocate again.
Not checked: allocations by other warps than the one that gave up.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemory).after_relinquish():
        related = ((pair.first, "the permit is given up"),)
        yield Hit(pair.then, "the block gave up the permit to allocate before", related=related)


RULE = Rule(
    id="TM005",
    name="tmem-alloc-after-relinquish",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="Tensor memory is allocated after the permit to allocate was given up.",
    consequence="Undefined, or a hang.",
    advice="Give up the permit after the last allocation.",
    example=ALLOCATION.variant("""
=     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
-     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32; // expect: TM005

=     ld.shared.b32 %r3, [slot];
=     bar.sync 0;
      ld.shared.b32 %r3, [slot];
"""),
    check=check,
)
