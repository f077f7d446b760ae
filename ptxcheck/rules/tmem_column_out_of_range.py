"""An access or accumulator beyond the columns that are allocated, or beyond all 512.

Checks: addresses that are constant, or away from an allocation by a constant or by what follows from the thread index,
with the columns that the shape touches at least; D of tcgen05.mma at a constant address, where the instruction
descriptor and the layout give one column for each of N.
Why: the columns behind belong to another allocation, or do not exist. Source: PTX ISA §9.7.17.1 and 9.7.17.8.2.
Not checked: registers of a load that nobody reads; addresses computed in other ways; A and scale factors in tensor
memory.
"""

from ..opcodes.op import Op
from ..protocols.typestate.accumulator_columns import AccumulatorColumns
from ..protocols.typestate.tensor_address import tensor_address, used_width, warp_addresses
from ..protocols.typestate.tensor_memory import LOADS, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for point in sorted(view.get(TensorMemory).of(LOADS | {Op.TCGEN05_ST})):
        address = tensor_address(view, point) or next((each for _, each in warp_addresses(view, point)), None)
        if address is None:
            continue
        end = address.column + used_width(view, point)
        if end > address.columns:
            what = "tensor memory" if address.is_absolute else "the allocation"
            yield Hit(point, f"this reaches column {end - 1}, but {what} has {address.columns}")
    for point, last, address in view.get(AccumulatorColumns).d_beyond():
        what = "tensor memory" if address.is_absolute else "the allocation"
        yield Hit(point, f"D reaches column {last}, but {what} has {address.columns}")


RULE = Rule(
    id="TM015",
    name="tmem-column-out-of-range",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.1",
    summary="An access goes beyond the allocated columns of tensor memory.",
    consequence="Undefined: a fault, or another block's data.",
    advice="Allocate more columns, or load fewer at once.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
-     tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r4, %r6}, [%r3 + 31]; // expect: TM015
+     tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r4, %r6}, [%r3 + 30];
      tcgen05.wait::ld.sync.aligned;
"""),
    check=check,
)
