"""A `tcgen05.alloc` or `.dealloc` that several warps of a block execute.

Checks: instructions that a known set of several warps executes.
Why: a single warp of each CTA allocates and frees; each further one allocates again and the addresses of the others
are lost, or frees what is free.
Not checked: guards that no thread index decides. Where the size of the block is only bounded, the finding is possible.
"""

from ..opcodes.op import Op
from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for op in (Op.TCGEN05_ALLOC, Op.TCGEN05_DEALLOC):
        for point in sorted(view.get(TensorMemory).points[op]):
            execution = view.facts.execution(point)
            threads = execution.threads
            if threads is None or not execution.exact or len(threads.warps) < 2:
                continue
            sure = view.launch.threads is not None
            yield Hit(
                point,
                f"{len(threads.warps)} warps execute this, each for itself",
                confidence=Confidence.PROVED if sure else Confidence.POSSIBLE,
            )


RULE = Rule(
    id="TM017",
    name="tmem-allocated-by-many-warps",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.5",
    summary="Several warps allocate or free tensor memory at one place.",
    consequence="Later blocks run out of columns, or memory in use is freed.",
    advice="Let one warp of the block do it.",
    example=ALLOCATION.variant("""
-     tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32; // expect: TM017
+     mov.u32 %r1, %tid.x;
+     shr.u32 %r2, %r1, 5;
+     setp.eq.u32 %p1, %r2, 0;
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;

-     tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32; // expect: TM017
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
"""),
    check=check,
)
