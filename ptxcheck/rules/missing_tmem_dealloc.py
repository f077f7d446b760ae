"""Tensor memory that is still allocated when the kernel ends.

Checks: allocations in kernels without any deallocation; ends of the kernel that all threads of the block come to
together, past the allocation, with no deallocation on the way; allocations whose address another one writes over
before anybody reads it.
Why: tensor memory belongs to the multiprocessor; what a block does not free is lost to the next ones, which wait for
it. Source: PTX ISA §9.7.17.1.2 and 9.7.17.7.
Not checked: roles that part before the end, of which one could free; kernels that call functions which synchronise.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemory).never_freed():
        related = ((pair.then, "the kernel ends here"),)
        yield Hit(pair.first, "nobody frees these columns before the kernel ends", related=related)
    for pair in view.get(TensorMemoryUse).lost_allocations():
        related = ((pair.then, "the next allocation writes its address there"),)
        yield Hit(pair.first, "nobody can free these columns: their address is overwritten", related=related)


RULE = Rule(
    id="TM002",
    name="missing-tmem-dealloc",
    severity=Severity.HANG,
    section="PTX ISA §9.7.17.7",
    summary="The kernel ends with tensor memory allocated.",
    consequence="Later blocks wait for ever for columns.",
    advice="Free on every way to the end: one warp executes tcgen05.dealloc after the last use.",
    example=ALLOCATION.variant("""
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32; // expect: TM002

+     bar.sync 0;
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
"""),
    check=check,
)
