"""Accumulators that pass from a `wgmma.mma_async` of one shape to one of another without a fence.

Checks: feasible paths between two multiplications on the same accumulators that differ in the number or type of these,
with no `wgmma.fence` between.
Why: multiplications follow each other in order without a fence only where they have one shape.
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for point, before in view.get(Wgmma).reshaped():
        related = ((before, "the multiplication of another shape"),)
        yield Hit(
            point, "these accumulators come from another shape, with no wgmma.fence between", related=related
        )


RULE = Rule(
    id="WG006",
    name="wgmma-shape-change",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.16.7.1",
    summary="A wgmma.mma_async takes over accumulators of another shape without a fence.",
    consequence="The two multiplications may overlap: the result is undefined.",
    advice="Put wgmma.fence.sync.aligned between them.",
    example=WGMMA.variant("""
=     .reg .f32 %f<8>;
      .reg .f32 %f<9>;

=     mov.f32 %f1, 0f00000000;
=     mov.f32 %f2, %f1;
=     mov.f32 %f3, %f1;
=     mov.f32 %f4, %f1;
=     wgmma.fence.sync.aligned;
      wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
          {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %rd2, %rd3, 0, 1, 1, 0, 0;
-     // expect: WG006
+     wgmma.fence.sync.aligned;
"""),
    check=check,
)
