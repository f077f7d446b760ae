"""A `tcgen05.dealloc` of a number of columns that no allocation of the kernel has.

Checks: constant counts of deallocations against the counts of all allocations.
Why: what is freed must be what one allocation returned.
Not checked: which allocation an address comes from; kernels that call functions which synchronise.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point, count in view.get(TensorMemory).wrong_sizes():
        related = tuple((p, "an allocation") for p in sorted(view.get(TensorMemory).allocations))
        yield Hit(point, f"{count} columns are freed, but no allocation has as many", related=related)


RULE = Rule(
    id="TM003",
    name="tmem-dealloc-size-mismatch",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="tcgen05.dealloc frees another number of columns than was allocated.",
    consequence="Columns are lost, or others' are freed.",
    advice="Free with the count of the allocation.",
    example=ALLOCATION.variant("""
-     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;

      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32; // expect: TM003
"""),
    check=check,
)
