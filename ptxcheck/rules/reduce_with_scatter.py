"""A tensor reduction in the mode `.tile::scatter4`.

Checks: every tensor reduction.
Why: reductions have the modes tile and im2col_no_offs only; ptxas takes scatter4 without a word.
Not checked: nothing.
"""

from ..isa.modifier import Mod
from ..opcodes.op import Op
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_100a


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        operation = instruction.operation
        scatters = operation.op is Op.CP_REDUCE_ASYNC_BULK_TENSOR and operation.has(Mod.TILE_SCATTER4)
        if scatters and not view.facts.never_runs(point):
            yield Hit(point, "a tensor reduction cannot scatter rows")


RULE = Rule(
    id="BG013",
    name="reduce-with-scatter",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.5.3",
    summary="A tensor reduction is given the mode scatter4.",
    consequence="The instruction has no documented meaning.",
    advice="Reduce row by row in tile mode, or scatter with cp.async.bulk.tensor and no reduction.",
    example=sm_100a("""
  (.param .align 64 .b8 map[128]) .reqntid 128
      .shared .align 128 .b8 tile[512];

      mov.b64 %rd1, map;
      cvta.param.u64 %rd0, %rd1;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mov.u32 %r1, 0;
      fence.proxy.async.shared::cta;
-     cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group // expect: BG013
+     cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
          [%rd0, {%r1, %r1, %r1, %r1, %r1}], [tile];
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
  DONE:
      ret;
"""),
    check=check,
)
