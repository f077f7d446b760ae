"""Warps of one warpgroup that execute different `setmaxnreg` instructions.

Checks: two instructions, each executed by a known set of whole warps, that share a warpgroup but no warp.
Why: all threads of a warpgroup must execute the same instruction. Kernels with a role for each warp place it in every
role and work, so that the rule is pedantic.
Not checked: branches that no thread index decides; blocks of unknown size.
"""

from ..protocols.typestate.register_count import RegisterCount
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for point, other in view.get(RegisterCount).differing():
        related = ((other, "other warps of the warpgroup"),)
        yield Hit(point, "warps of this warpgroup execute another setmaxnreg", related=related)


RULE = Rule(
    id="WG012",
    name="non-uniform-setmaxnreg",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.20.5",
    summary="Warps of one warpgroup execute different setmaxnreg instructions.",
    consequence="Undefined by the text; with different counts the pool of the block may run short.",
    advice="Execute one setmaxnreg before the roles of the warpgroup part.",
    example=sm_90a("""
- () .reqntid 128 .minnctapersm 1
+ () .reqntid 384 .minnctapersm 1
      mov.u32 %r1, %tid.x;
-     setp.ge.u32 %p1, %r1, 32;
+     setp.ge.u32 %p1, %r1, 128;
      @%p1 bra $rest;
      setmaxnreg.dec.sync.aligned.u32 40;
      ret;
  $rest:
      setmaxnreg.dec.sync.aligned.u32 72; // expect: WG012
      ret;
"""),
    check=check,
    pedantic=True,
)
