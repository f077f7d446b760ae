"""A tensor reduction in the mode `.tile::scatter4`.

Checks: every tensor reduction.
Why: reductions have the modes tile and im2col_no_offs only; ptxas takes scatter4 without a word.
Not checked: nothing.
"""

from ..isa.modifier import Mod
from ..opcodes.op import Op
from .copy_kernels import TENSOR_STORE
from .rule import Hit, Hits, KernelView, Rule, Severity


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
    section="PTX ISA §9.7.9.26.5.3",
    summary="A tensor reduction is given the mode scatter4.",
    consequence="The instruction has no documented meaning.",
    advice="Reduce row by row in tile mode, or scatter with cp.async.bulk.tensor and no reduction.",
    example=TENSOR_STORE.variant("""
= .target sm_90a
  .target sm_100a

=     mov.u32 %r1, 8;
=     mov.u32 %r2, 0;
      mov.u32 %r1, 0;

=     cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r1, %r2}], [tile];
-     cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group // expect: BG013
+     cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
          [%rd0, {%r1, %r1, %r1, %r1, %r1}], [tile];
"""),
    check=check,
)
