"""A function boundary crossed while a `wgmma.mma_async` may still run.

Checks: feasible paths from a multiplication to a call, or to the return of a device function, with no
`wgmma.wait_group` between.
Why: ptxas cannot keep registers in flight over a call; it serialises all multiplications of the function and says so
in a note (C7509, C7510). Source: PTX ISA 9.7.16.7; notes of ptxas 13.0.
"""

from ..protocols.typestate.wgmma import Wgmma
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for point, start in view.get(Wgmma).crossings():
        related = ((start, "the multiplication"),)
        yield Hit(point, "a wgmma.mma_async may still run when this boundary is crossed", related=related)


RULE = Rule(
    id="WG007",
    name="wgmma-across-call",
    severity=Severity.SLOW,
    section="PTX ISA 9.7.16.7",
    summary="A call or return is reached while a wgmma.mma_async may still run.",
    consequence="ptxas serialises all wgmma instructions of the function.",
    advice="Wait for the multiplications before the call, or let the function be inlined.",
    example=Example("""
  .version 8.6
  .target sm_90a
  .address_size 64

  .func helper()
  {
      ret;
  }

  .visible .entry kernel(.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 128
  {
      .reg .pred %p<4>;
      .reg .f32 %f<8>;
      .reg .b32 %r<4>;
      .reg .b64 %rd<4>;

      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd2, [a];
      ld.param.u64 %rd3, [b];
      mov.f32 %f1, 0f00000000;
      mov.f32 %f2, %f1;
      mov.f32 %f3, %f1;
      mov.f32 %f4, %f1;
      wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
+     wgmma.wait_group.sync.aligned 0;
      call helper; // expect: WG007
-     wgmma.wait_group.sync.aligned 0;
      st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
      ret;
  }
"""),
    check=check,
)
