"""Accumulators that pass from a `wgmma.mma_async` of one shape to one of another without a fence.

Checks: feasible paths between two multiplications on the same accumulators that differ in the number or type of these,
with no `wgmma.fence` between.
Why: multiplications follow each other in order without a fence only where they have one shape.
"""

from ..protocols.typestate.wgmma import Wgmma
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


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
    since="0.1",
    section="PTX ISA 9.7.16.7.1",
    summary="A wgmma.mma_async takes over accumulators of another shape without a fence.",
    consequence="The two multiplications may overlap: the result is undefined.",
    advice="Put wgmma.fence.sync.aligned between them.",
    example=sm_90a("""
  (.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 128
      .reg .f32 %f<9>;

      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd2, [a];
      ld.param.u64 %rd3, [b];
      wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
          {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %rd2, %rd3, 0, 1, 1, 0, 0;
-     // expect: WG006
+     wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
      wgmma.wait_group.sync.aligned 0;
      st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
      ret;
"""),
    check=check,
)
