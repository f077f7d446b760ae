"""Tensor memory that one warp frees while others may still load from it.

Checks: a load that several warps execute, and a feasible path of one of them from it to the deallocation with no
barrier and no mbarrier between, in kernels of known block size.
Why: the warps are not in step: the one that frees may be ahead of the others. Source: PTX ISA §9.7.17.1.2 and 9.7.17.7.
Not checked: loads and deallocations of different warps; what a barrier between is for.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Property, Rule, Severity
from .tensor_memory_kernels import LOADED


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).freed_under_readers():
        related = ((pair.first, "the load, which other warps may still be at"),)
        yield Hit(pair.then, "other warps may still read these columns", related=related)


RULE = Rule(
    id="TM035",
    name="tmem-dealloc-before-reads",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.7",
    summary="A warp frees tensor memory that other warps may not have read yet.",
    consequence="The next block on the multiprocessor overwrites what is still to be read.",
    advice="Let all warps meet at a barrier between the last load and the deallocation.",
    example=LOADED.variant("""
+     bar.sync 0;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128; // expect: TM035
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
