"""A `tcgen05.ld` or `.st` of lanes that the warp cannot reach.

Checks: addresses that are constant, or away from an allocation by a constant or by what follows from the thread index,
against the warps that execute the instruction.
Why: warp w reaches the 32 lanes from 32 * (w % 4) on and no others.
Not checked: lanes of the first quarter, which other warps name for their own (TM044); addresses computed from memory
or parameters; branches that no thread index decides.
"""

from ..opcodes.op import Op
from ..protocols.typestate.tensor_address import foreign_lanes
from ..protocols.typestate.tensor_memory import LOADS, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point in sorted(view.get(TensorMemory).of(LOADS | {Op.TCGEN05_ST})):
        for lane, warps in foreign_lanes(view, point).items():
            if lane:
                yield Hit(point, f"lane {lane} is out of reach of warp {', '.join(map(str, warps))}")
                break


RULE = Rule(
    id="TM013",
    name="tmem-lane-quarter",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.8.1",
    summary="A warp accesses lanes of tensor memory that belong to another warp of its warpgroup.",
    consequence="Undefined: a fault or wrong data.",
    advice="Add (warp % 4) << 21 to the address.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
-     add.u32 %r8, %r2, 1;
-     and.b32 %r8, %r8, 3;
+     and.b32 %r8, %r2, 3;
      shl.b32 %r8, %r8, 21;
      add.u32 %r9, %r3, %r8;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r9]; // expect: TM013
      tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1;
"""),
    check=check,
)
