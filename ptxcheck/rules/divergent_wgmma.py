"""A wgmma instruction that only part of a warp executes.

Checks: wgmma instructions below a branch or guard that goes by the lane or an elected thread, while the other lanes
are alive.
Why: `.sync.aligned` makes the instruction wait until all threads of the warp execute it.
Not checked: branches on values from memory.
"""

from ..protocols.typestate.divergence import part_of_warp
from ..protocols.typestate.wgmma import WGMMA, Wgmma
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for op in WGMMA:
        for point in view.get(Wgmma).points[op]:
            part = part_of_warp(view, point)
            if part is not None:
                yield Hit(
                    point,
                    f"this instruction of the whole warpgroup is executed by {part} only",
                    related=((part.branch, "the other lanes leave here"),),
                    confidence=Confidence.PROVED if part.sure else Confidence.POSSIBLE,
                )


RULE = Rule(
    id="WG005",
    name="divergent-wgmma",
    severity=Severity.HANG,
    section="PTX ISA §9.7.16.5.2",
    summary="A wgmma instruction is executed by part of a warp.",
    consequence="The warp waits for lanes that never come, or the result is undefined.",
    advice="Let whole warpgroups execute wgmma; do not elect a thread for it.",
    example=sm_90a("""
  (.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 128
      .reg .f32 %f<8>;
      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd2, [a];
      ld.param.u64 %rd3, [b];
      mov.u32 %r1, %tid.x;
-     and.b32 %r2, %r1, 31;
+     shr.u32 %r2, %r1, 7;
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra $join;
      wgmma.fence.sync.aligned; // expect: WG005
  $join:
      bar.sync 0;
      ret;
"""),
    check=check,
)
