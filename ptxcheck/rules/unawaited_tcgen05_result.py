"""An accumulator that the issuing thread loads without having waited for the multiplication.

Checks: feasible paths from a multiplication to a load of the same columns with no wait on an mbarrier on any way
between.
Why: the end of a multiplication is seen only through tcgen05.commit and the mbarrier that it signals; a barrier of the
block, or time, is not enough. Source: PTX ISA §9.7.17.6.2 and 9.7.17.12.
Not checked: which mbarrier is waited for; waits that are skipped; loads by other warps; loops with a wait.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Property, Rule, Severity
from .tensor_memory_kernels import MULTIPLIED


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).unawaited_results():
        related = ((pair.first, "the multiplication"),)
        yield Hit(
            pair.then, "nothing waits for the multiplication that writes these columns", related=related
        )


RULE = Rule(
    id="TM032",
    name="unawaited-tcgen05-result",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.6.2",
    summary="A tcgen05.ld reads an accumulator whose multiplication was not waited for.",
    consequence="The load reads old or half-written columns.",
    advice="Commit to an mbarrier and wait for its phase before the load.",
    example=MULTIPLIED.variant("""
      @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
-     bar.sync 0;
-     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3]; // expect: TM032
-     tcgen05.wait::ld.sync.aligned;

+     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
+     tcgen05.wait::ld.sync.aligned;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
