"""A kernel that uses tensor memory both as one CTA and as a pair.

Checks: the `.cta_group` of all tcgen05 instructions of one function.
Why: all of them in one kernel must have one value; ptxas 13.0 and later refuse the kernel, earlier ones do not.
Source: PTX ISA §9.7.17.5 and 9.7.17.7.
Not checked: functions that are called; `.cta_group` of tensor copies, which names the CTA whose mbarrier is signalled.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import LOADED


def check(view: KernelView) -> Hits:
    mixed = view.get(TensorMemoryUse).mixed_groups()
    if mixed is not None:
        yield Hit(
            mixed[1], "this and the first instruction differ in cta_group", related=((mixed[0], "the first"),)
        )


RULE = Rule(
    id="TM033",
    name="mixed-cta-group",
    severity=Severity.ERROR,
    section="PTX ISA §9.7.17.5",
    summary="tcgen05 instructions of one kernel have different cta_group.",
    consequence="ptxas refuses the kernel, or its behaviour is undefined.",
    advice="Use one cta_group in the whole kernel.",
    example=LOADED.variant("""
-     @%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 128; // expect: TM033
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
"""),
    check=check,
)
