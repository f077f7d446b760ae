"""A wgmma instruction that some warps of a warpgroup do not execute.

Checks: blocks that are no multiple of 128 threads where the last warpgroup takes part, blocks of less than 128
threads, branches that send some warps of a warpgroup elsewhere, and lanes that their index has ended before.
Why: the four warps of a warpgroup work on one matrix; all of them must execute the same instruction. Source: PTX ISA
9.7.16.1 and 9.7.16.5.2.
Not checked: branches that no thread index decides; parts of a warp whose other lanes are alive (WG005).
"""

from ..protocols.typestate.warpgroup import part_of_warpgroup
from ..protocols.typestate.wgmma import WGMMA, Wgmma
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for op in WGMMA:
        for point in view.get(Wgmma).points[op]:
            part = part_of_warpgroup(view, point)
            if part is not None:
                yield Hit(point, f"this instruction of the whole warpgroup is executed by {part} only")


RULE = Rule(
    id="WG004",
    name="partial-warpgroup",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.16.1",
    summary="A wgmma instruction is executed by part of a warpgroup.",
    consequence="The result is undefined, or the warps wait for ever.",
    advice="Launch a multiple of 128 threads and branch by warpgroup (threadIdx.x / 128), not by warp.",
    example=sm_90a("""
- (.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 192
+ (.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 128
      .reg .f32 %f<8>;
      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd2, [a];
      ld.param.u64 %rd3, [b];
      wgmma.fence.sync.aligned; // expect: WG004
      ret;
"""),
    check=check,
)
