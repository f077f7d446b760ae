"""A `setmaxnreg` that part of a warp, or not all warps of a warpgroup, execute.

Checks: `setmaxnreg` below a branch or guard that goes by the lane or an elected thread, while the other lanes are
alive; and warps of its warpgroup that never come to any `setmaxnreg`, that the block does not have, whose guard is
false where that of the others is true, or that decrease their registers where it increases them.
Why: all threads of a warpgroup must execute the same one.
Not checked: branches that no thread index decides; blocks of unknown size. Warps that execute another `setmaxnreg`
of the same direction than their neighbours are WG012.
"""

from ..protocols.typestate.divergence import part_of_warp
from ..protocols.typestate.register_count import RegisterCount
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for point in view.get(RegisterCount).counts:
        part = part_of_warp(view, point)
        if part is not None:
            yield Hit(
                point,
                f"this instruction of the whole warpgroup is executed by {part} only",
                related=((part.branch, "the other lanes leave here"),),
                confidence=Confidence.PROVED if part.sure else Confidence.POSSIBLE,
            )
    for found in view.get(RegisterCount).absences():
        warps = ", ".join(map(str, found.missing))
        yield Hit(
            found.point, f"threads {found.threads} execute this, but warps {warps} of the warpgroup do not"
        )
    for point, other in view.get(RegisterCount).opposed():
        related = ((other, "other warps of the warpgroup decrease theirs here"),)
        yield Hit(
            point, "warps of a warpgroup increase their registers here while others decrease theirs", related
        )


RULE = Rule(
    id="WG010",
    name="divergent-setmaxnreg",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.20.5",
    summary="A setmaxnreg is executed by part of a warp or of a warpgroup.",
    consequence="Undefined: the counts of the warps go astray, or the kernel hangs.",
    advice="Branch by warpgroup (threadIdx.x / 128), and launch whole warpgroups.",
    example=sm_90a("""
  () .reqntid 384 .minnctapersm 1
      mov.u32 %r1, %tid.x;
-     setp.ge.u32 %p1, %r1, 32;
+     setp.ge.u32 %p1, %r1, 128;
      @%p1 bra $rest;
      setmaxnreg.dec.sync.aligned.u32 40; // expect: WG010
  $rest:
      bar.sync 0;
      ret;
"""),
    check=check,
)
