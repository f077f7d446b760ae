"""The address of an allocation read by a warp that did not wait for it.

Checks: feasible paths of a thread of another warp from the start of the kernel to a load of the word that
`tcgen05.alloc` writes, with nothing that synchronises before, in kernels of known block size.
Why: the allocation writes the address to shared memory; nothing but a barrier makes other warps see it.
Not checked: what a barrier before is for.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Property, Rule, Severity
from .tensor_memory_kernels import LOADED


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).read_early():
        related = ((pair.first, "the allocation"),)
        yield Hit(
            pair.then, "other warps read this before the allocation has surely written it", related=related
        )


RULE = Rule(
    id="TM036",
    name="tmem-address-read-before-alloc",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.7",
    summary="A warp reads the address of tensor memory before the allocating warp has surely written it.",
    consequence="The warp works on a wrong address.",
    advice="Put a barrier between tcgen05.alloc and the loads of its address.",
    example=LOADED.variant("""
+     bar.sync 0;
      ld.shared.b32 %r3, [slot]; // expect: TM036
-     bar.sync 0;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
