"""A warp-collective whose member mask names lanes that cannot be there, or leaves out one that is.

Checks: constant masks of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync` that
lack a lane which executes the instruction; and below a branch or guard that goes by the lane or an elected thread,
while the lanes left out are alive and meet no such instruction with that mask on their own way.
Why: the instruction waits for every lane of the mask. `elect.sync` with a full mask run by 16 threads hit NVIDIA/cccl
ace13cd23f. Source: PTX ISA §9.7.9.6, 9.7.14.2, 9.7.14.10 to 15.
Not checked: masks that are not constant; branches on values from memory.
"""

from ..protocols.typestate.member_mask import misplaced_masks
from .rule import Confidence, Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for found in misplaced_masks(view):
        yield Hit(
            found.point,
            f"the mask {found.mask:#010x} {found.complaint}",
            related=() if found.branch is None else ((found.branch, "the other lanes leave here"),),
            confidence=Confidence.PROVED if found.sure else Confidence.POSSIBLE,
        )


RULE = Rule(
    id="NB008",
    name="full-mask-in-divergent-code",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.2",
    summary="The member mask names lanes of the warp that take another path.",
    consequence="The warp waits for them for ever, or uses values that were never given.",
    advice="Use the mask of the lanes that are there, or move the instruction out of the branch.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      mov.u32 %r1, %tid.x;
      and.b32 %r2, %r1, 31;
      setp.ge.u32 %p1, %r2, 16;
      @%p1 bra $done;
-     shfl.sync.bfly.b32 %r3, %r2, 8, 31, -1; // expect: NB008
+     shfl.sync.bfly.b32 %r3, %r2, 8, 31, 65535;
  $done:
      bar.warp.sync -1;
      ret;
"""),
    check=check,
    approximates=(Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY),
)
