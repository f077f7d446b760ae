"""A `tcgen05.mma`, `.cp` or `.shift` whose thread ends without a commit.

Checks: feasible paths from the operation to the end of its thread with no `tcgen05.commit`.
Why: only a commit of the issuing thread makes an mbarrier tell when the operation has completed. Source: PTX ISA
9.7.17.6.2 and 9.7.17.12.
Not checked: a commit for another CTA group, which ptxas rejects; device functions.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    found = view.get(TensorMemory).uncommitted()
    if found is not None:
        related = ((found.then, "the thread ends"),)
        yield Hit(found.first, "no tcgen05.commit comes after this in its thread", related=related)


RULE = Rule(
    id="TM010",
    name="uncommitted-tcgen05",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.12",
    summary="A thread ends without a tcgen05.commit for what it issued.",
    consequence="Nobody can know when the result is there: a load reads what was there before.",
    advice="Execute tcgen05.commit in the thread that issued the operation, and wait on its mbarrier.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
      mov.b64 %rd1, 0;
      mov.b64 %rd2, 0;
      mov.b32 %r5, 0;
      elect.sync _|%p3, -1;
      and.pred %p2, %p1, %p3;
      @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd2, %r5, 0; // expect: TM010
-     bar.sync 0;
-     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
-     tcgen05.wait::ld.sync.aligned;
-     add.u32 %r6, %r4, 1;
+     @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
"""),
    check=check,
)
