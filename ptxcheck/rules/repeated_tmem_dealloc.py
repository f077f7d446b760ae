"""Tensor memory that is freed twice.

Checks: two deallocations of one address on a feasible path with no allocation between.
Why: a deallocation must name what an allocation returned and nobody has freed.
Not checked: deallocations by different warps.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import LOADED


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).freed_twice():
        related = ((pair.first, "freed here"),)
        yield Hit(pair.then, "these columns have been freed before", related=related)


RULE = Rule(
    id="TM027",
    name="repeated-tmem-dealloc",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="A tcgen05.dealloc frees columns that the same thread has freed before.",
    consequence="Undefined: columns of another block may be freed.",
    advice="Free each allocation once.",
    example=LOADED.variant("""
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
-     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128; // expect: TM027
"""),
    check=check,
)
