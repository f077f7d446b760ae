"""A `tcgen05.mma`, `.cp`, `.shift` or `.commit` that several threads of a warp execute.

Checks: instructions that whole warps, or a known set with two threads of one warp, execute together.
Why: each thread that executes the instruction issues it once more; a single thread is to issue it.
Not checked: guards and branches that the thread index does not decide and that are not known to hold alike in a warp.
"""

from ..protocols.typestate.issue import issued_by_several
from ..protocols.typestate.tensor_memory import ISSUED_ONCE, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point in sorted(view.get(TensorMemory).of(ISSUED_ONCE)):
        if issued_by_several(view, point):
            yield Hit(point, "each of several threads of a warp issues this")


RULE = Rule(
    id="TM011",
    name="tcgen05-issued-by-many-threads",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.5",
    summary="A tcgen05 instruction for one thread is executed by several of a warp.",
    consequence="The product is accumulated many times, and too many arrivals are counted.",
    advice="Elect one thread (elect.sync) for it.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
      mov.b64 %rd1, 0;
      mov.b64 %rd2, 0;
      mov.b32 %r5, 0;
-     @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd2, %r5, 0; // expect: TM011
-     @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar]; // expect: TM011
+     elect.sync _|%p3, -1;
+     and.pred %p2, %p1, %p3;
+     @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd2, %r5, 0;
+     @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
"""),
    check=check,
)
