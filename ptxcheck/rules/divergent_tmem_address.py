"""A `tcgen05.ld` or `.st` whose address differs between the lanes of a warp.

Checks: addresses that are a sum of the lane or thread index, scaled, and what is alike in the warp.
Why: all threads of the warp must give the same address; the shape tells which part each lane gets. Source: PTX ISA
9.7.17.8.3 and 9.7.17.8.4.
Not checked: addresses that depend on the lane in other ways.
"""

from ..opcodes.op import Op
from ..protocols.typestate.tensor_address import differs_in_warp
from ..protocols.typestate.tensor_memory import LOADS, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point in sorted(view.get(TensorMemory).of(LOADS | {Op.TCGEN05_ST})):
        if differs_in_warp(view, point):
            yield Hit(point, "the address differs from lane to lane of the warp")


RULE = Rule(
    id="TM012",
    name="divergent-tmem-address",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.8.3",
    summary="The lanes of a warp give different tensor-memory addresses.",
    consequence="Undefined: which address is used is not said.",
    advice="Add the first lane of the warp's quarter, (warp % 4) << 21, and nothing that depends on the lane.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
-     shl.b32 %r8, %r1, 16;
+     and.b32 %r8, %r2, 3;
+     shl.b32 %r8, %r8, 21;
      add.u32 %r9, %r3, %r8;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r9]; // expect: TM012
      tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1;
"""),
    check=check,
)
