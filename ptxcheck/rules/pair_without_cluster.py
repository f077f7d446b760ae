"""A tcgen05 instruction of a CTA pair in a kernel whose clusters hold no pairs.

Checks: `.cta_group::2` where the cluster size is known to be odd.
Why: a pair is two CTAs of a cluster whose ranks differ in the last bit.
Not checked: kernels that get their cluster size at launch.
"""

from ..isa.modifier import Mod
from ..protocols.typestate.tensor_memory import TENSOR_MEMORY, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    size = view.launch.cluster_size
    if size is None or size % 2 == 0:
        return
    for point in sorted(view.get(TensorMemory).of(TENSOR_MEMORY)):
        if view.body.instructions[point].operation.has(Mod.CTA_GROUP_2):
            yield Hit(point, f"a cluster of {size} CTAs has a CTA without a peer for .cta_group::2")


RULE = Rule(
    id="TM014",
    name="pair-without-cluster",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.5.1",
    summary="A .cta_group::2 instruction runs in a cluster of odd size.",
    consequence="Undefined, or a hang: some CTA has no peer.",
    advice="Launch clusters of an even number of CTAs, or use .cta_group::1.",
    example=ALLOCATION.variant("""
= .visible .entry kernel(.param .u32 n) .reqntid 128
- .visible .entry kernel(.param .u32 n) .reqntid 128 .reqnctapercluster 3
+ .visible .entry kernel(.param .u32 n) .reqntid 128 .reqnctapercluster 2

=     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      @%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32; // expect: TM014

=     bar.sync 0;
=     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
+     bar.sync 0;
      @%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 32; // expect: TM014
"""),
    check=check,
)
