"""A `tcgen05.ld` or `.st` by which all warps name lanes of the first quarter.

Checks: as for lanes of other quarters (TM013).
Why: warp w reaches the 32 lanes from 32 * (w % 4) on and no others. Released kernels (`msa_decode` of FlashInfer) name
lane 0 in all warps and mean the lanes of each, so the rule is pedantic; `tensor-memory-access` names the assumption.
Source: PTX ISA §9.7.17.8.1 (access restrictions).
Not checked: as for TM013.
"""

from ..opcodes.op import Op
from ..protocols.typestate.tensor_address import foreign_lanes
from ..protocols.typestate.tensor_memory import LOADS, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point in sorted(view.get(TensorMemory).of(LOADS | {Op.TCGEN05_ST})):
        warps = foreign_lanes(view, point).get(0)
        if warps:
            yield Hit(
                point, f"warp {', '.join(map(str, warps))} names lanes of the first quarter, not its own"
            )


RULE = Rule(
    id="TM044",
    name="tmem-lanes-of-first-quarter",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA §9.7.17.8.1",
    summary="A warp names lanes of the first quarter of tensor memory, which another warp reaches, for its own.",
    consequence="Undefined by PTX; released kernels rely on the access being one of the warp's own lanes.",
    advice="Add (warp % 4) << 21 to the address.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
-     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3]; // expect: TM044
+     and.b32 %r8, %r2, 3;
+     shl.b32 %r8, %r8, 21;
+     add.u32 %r9, %r3, %r8;
+     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r9];
      tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1;
"""),
    check=check,
    pedantic=True,
)
