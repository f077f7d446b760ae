"""`bar.sync` (= `barrier.sync.aligned`) that only part of a warp executes.

Checks: branches and guards that go by the lane or an elected thread, over any `bar` or `barrier….aligned`, while the
other lanes are still alive.
Why: the aligned forms promise that all threads of the warp execute this same instruction. A compiler that copies the
barrier into both arms of a lane-divergent `if` breaks that too (facebookexperimental/triton 1110c2a26,
deepseek-ai/DeepEP 1d3963d). Source: PTX ISA §9.7.14.1: ".aligned … all threads in the warp must execute the same
instruction".
Not checked: branches on values from memory; lanes that may have ended before.
"""

from ..opcodes.spec import Trait
from ..protocols.typestate.divergence import part_of_warp
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Confidence, Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for site in view.get(NamedBarriers).sites:
        if Trait.ALIGNED not in view.body.instructions[site.point].operation.traits:
            continue
        part = part_of_warp(view, site.point)
        if part is not None:
            yield Hit(
                site.point,
                f"this aligned barrier is executed by {part} only",
                related=((part.branch, "the other lanes leave here"),),
                confidence=Confidence.PROVED if part.sure else Confidence.POSSIBLE,
            )


RULE = Rule(
    id="NB004",
    name="divergent-aligned-barrier",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.1",
    summary="An aligned barrier is executed by part of a warp while its other lanes are elsewhere.",
    consequence="The warp hangs, or the barrier counts threads that never came.",
    advice="Reconverge first (bar.warp.sync), or use barrier.sync without .aligned with all threads of the warp.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      mov.u32 %r1, %tid.x;
      and.b32 %r2, %r1, 31;
      setp.ge.u32 %p1, %r2, 16;
-     @%p1 bra $upper;
+     @%p1 bra $done;
+     mov.b32 %r3, 1;
+ $done:
+     bar.warp.sync -1;
      bar.sync 1, 128; // expect: NB004
-     bra.uni $done;
- $upper:
-     bar.sync 1, 128; // expect: NB004
- $done:
      bar.sync 0;
      ret;
"""),
    check=check,
    approximates=(Property.PHASE_SAFETY,),
)
