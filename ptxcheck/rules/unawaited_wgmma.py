"""A `wgmma.mma_async` that may still run when its thread ends.

Checks: feasible paths from a multiplication to the end of the kernel with no `wgmma.wait_group` between.
Why: the multiplication still writes registers and reads shared memory; ptxas puts a wait in front of the end (C7517),
which is easily one in a loop or in front of work that needs none. Source: PTX ISA §9.7.16.7.3; notes of ptxas 13.0.
Not checked: multiplications that are in no group (WG002); waits for too few groups whose results are used (WG003).
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    found = view.get(Wgmma).unawaited_end()
    if found is not None:
        yield Hit(
            found[0], "nothing waits for this multiplication", related=((found[1], "the thread ends here"),)
        )


RULE = Rule(
    id="WG022",
    name="unawaited-wgmma",
    severity=Severity.SLOW,
    section="PTX ISA §9.7.16.7.3",
    summary="A thread ends while a wgmma.mma_async may still run.",
    consequence="ptxas adds a wait of its own, and the result of the multiplication is lost.",
    advice="Execute wgmma.wait_group before the results are used and the kernel ends.",
    example=WGMMA.variant("""
= .address_size 64
  .address_size 64
  .extern .func helper();

-     // expect: WG022
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;

=     wgmma.wait_group.sync.aligned 0;
=     st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
+     wgmma.wait_group.sync.aligned 0;
"""),
    check=check,
)
