"""A `wgmma.mma_async` that may still run when its thread ends.

Checks: feasible paths from a multiplication to the end of the kernel with no `wgmma.wait_group` between.
Why: the multiplication still writes registers and reads shared memory; ptxas puts a wait in front of the end (C7517),
which is easily one in a loop or in front of work that needs none. Source: PTX ISA 9.7.16.7.3; notes of ptxas 13.0.
Not checked: multiplications that are in no group (WG002); waits for too few groups whose results are used (WG003).
"""

from ..protocols.typestate.wgmma import Wgmma
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


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
    section="PTX ISA 9.7.16.7.3",
    summary="A thread ends while a wgmma.mma_async may still run.",
    consequence="ptxas adds a wait of its own, and the result of the multiplication is lost.",
    advice="Execute wgmma.wait_group before the results are used and the kernel ends.",
    example=Example("""
  .version 8.6
  .target sm_90a
  .address_size 64

  .extern .func helper();

  .visible .entry kernel(.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 128
  {
      .reg .f32 %f<8>;
      .reg .b64 %rd<4>;

      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd2, [a];
      ld.param.u64 %rd3, [b];
      mov.f32 %f1, 0f00000000;
      mov.f32 %f2, %f1;
      mov.f32 %f3, %f1;
      mov.f32 %f4, %f1;
      wgmma.fence.sync.aligned;
-     // expect: WG022
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
+     wgmma.wait_group.sync.aligned 0;
      ret;
  }
"""),
    check=check,
)
