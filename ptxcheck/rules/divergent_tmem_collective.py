"""A tcgen05 instruction of the whole warp that only part of it executes.

Checks: `tcgen05.alloc`, `.dealloc`, `.relinquish_alloc_permit`, `.ld`, `.st` and `.wait` below a branch or guard that
goes by the lane or an elected thread, while the other lanes are alive.
Why: `.sync.aligned` promises that all threads of the warp execute this same instruction. Source: PTX ISA §9.7.17.7 and
9.7.17.8.
Not checked: branches on values from memory.
"""

from ..protocols.typestate.divergence import part_of_warp
from ..protocols.typestate.tensor_memory import WARP_WIDE, TensorMemory
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point in sorted(view.get(TensorMemory).of(WARP_WIDE)):
        part = part_of_warp(view, point)
        if part is not None:
            yield Hit(
                point,
                f"this instruction of the whole warp is executed by {part} only",
                related=((part.branch, "the other lanes leave here"),),
                confidence=Confidence.PROVED if part.sure else Confidence.POSSIBLE,
            )


RULE = Rule(
    id="TM007",
    name="divergent-tmem-collective",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="A warp-wide tcgen05 instruction is executed by part of a warp.",
    consequence="Undefined behaviour or a hang.",
    advice="Let a whole warp execute it; elect a thread only for tcgen05.mma, .cp, .shift and .commit.",
    example=ALLOCATION.variant("""
-     elect.sync _|%p2, -1;
-     @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32; // expect: TM007
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;

      ld.shared.b32 %r3, [slot];
+     bar.sync 0;
"""),
    check=check,
)
