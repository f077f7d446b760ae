"""A warp-wide matrix instruction that only part of a warp executes.

Checks: `mma`, `wmma`, `ldmatrix`, `stmatrix` and `movmatrix` below a branch or guard that goes by the lane or an
elected thread, while the other lanes are alive.
Why: `.sync.aligned` promises that all threads of the warp execute this same instruction; each holds part of the
matrices. Source: PTX ISA §9.7.13 and 9.7.9 (ldmatrix, stmatrix).
Not checked: wgmma, tcgen05, setmaxnreg and cluster barriers, which have rules of their own; branches on values from
memory.
"""

from ..opcodes.op import Op
from ..protocols.typestate.divergence import part_of_warp
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a

_WARP_WIDE = frozenset(
    {
        Op.MMA, Op.MMA_SP, Op.WMMA_LOAD, Op.WMMA_MMA, Op.WMMA_STORE, Op.LDMATRIX, Op.STMATRIX, Op.MOVMATRIX,
    }
)  # fmt: skip


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op not in _WARP_WIDE:
            continue
        part = part_of_warp(view, point)
        if part is not None:
            yield Hit(
                point,
                f"this instruction of the whole warp is executed by {part} only",
                related=((part.branch, "the other lanes leave here"),),
                confidence=Confidence.PROVED if part.sure else Confidence.POSSIBLE,
            )


RULE = Rule(
    id="NB010",
    name="divergent-aligned-instruction",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.13",
    summary="A matrix instruction of the whole warp is executed by part of it.",
    consequence="The result is undefined.",
    advice="Move the instruction out of the divergent branch; guard its inputs or outputs instead.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      mov.u32 %r1, %tid.x;
      and.b32 %r2, %r1, 31;
-     setp.ne.u32 %p1, %r2, 0;
-     @%p1 bra $done;
      movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2; // expect: NB010
- $done:
      bar.sync 0;
      ret;
"""),
    check=check,
)
