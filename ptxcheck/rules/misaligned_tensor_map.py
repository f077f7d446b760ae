"""A tensor map that does not stand at a multiple of 64 bytes.

Checks: tensor-map operands that are addresses of variables or kernel parameters, with their offsets and declared
alignments; for kernel parameters also their place in the parameter block.
Why: the hardware reads the 128-byte object from a 64-byte aligned address; a structure that holds the map without
alignas(64) moves it. Source: CUDA driver API: "tensorMap … must be aligned to 64 bytes".
Not checked: maps reached through pointers.
"""

from ..protocols.typestate.tensor_map import ALIGNMENT, misplaced
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for point, reason in misplaced(view):
        yield Hit(point, f"the tensor map is not at a multiple of {ALIGNMENT} bytes: {reason}")


RULE = Rule(
    id="PT009",
    name="misaligned-tensor-map",
    severity=Severity.UNDEFINED,
    section="CUDA driver API, cuTensorMapEncodeTiled",
    summary="The tensor map is not aligned to 64 bytes.",
    consequence="The copy faults or reads a wrong tensor map.",
    advice="Declare the CUtensorMap, or the structure around it, with alignas(64) or more.",
    example=sm_90a("""
- (.param .align 8 .b8 head[32], .param .align 32 .b8 map[128]) .reqntid 1
+ (.param .align 8 .b8 head[32], .param .align 64 .b8 map[128]) .reqntid 1
      .shared .align 128 .b8 data[128];
      .shared .align 8 .b64 bar;
      mov.b64 %rd1, map;
      cvta.param.u64 %rd2, %rd1;
      mov.u32 %r1, data;
      mov.u32 %r2, bar;
      mbarrier.init.shared::cta.b64 [%r2], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
      mov.b32 %r3, 0;
      cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: PT009
          [%r1], [%rd2, {%r3}], [%r2];
  $wait:
      mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r2], 0;
      @!%p1 bra $wait;
      ret;
"""),
    check=check,
)
