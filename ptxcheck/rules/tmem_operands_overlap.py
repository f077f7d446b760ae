"""Operands in the columns of the accumulator of the same multiplication.

Checks: multiplications with A, scale factors or metadata in tensor memory, whose addresses are constants away from one
allocation, and whose D has all lanes.
Why: the multiplication writes D while it reads them. Source: PTX ISA §9.7.17.10.5 to 9.7.17.10.7.
Not checked: operands at computed addresses, and columns that only some formats have: `tensor-memory-access` of the
verdicts is `unknown` there.
"""

from ..protocols.typestate.accumulator_columns import AccumulatorColumns
from .rule import Hit, Hits, KernelView, Property, Rule, Severity
from .tensor_memory_kernels import MULTIPLIED


def check(view: KernelView) -> Hits:
    for overlap in view.get(AccumulatorColumns).overlaps():
        yield Hit(overlap.point, f"{overlap.what} from column {overlap.column} on and D share columns")


RULE = Rule(
    id="TM031",
    name="tmem-operands-overlap",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.10.5",
    summary="The scale factors, the metadata or A of a tcgen05.mma lie within its accumulator.",
    consequence="Wrong results: the accumulator overwrites what is being read.",
    advice="Place the other operands behind the columns of D.",
    example=MULTIPLIED.variant("""
=     mov.b32 %r8, 0x8100490;
      mov.b32 %r8, 0x8900000;

=     @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd1, %r8, %p3;
      @%p2 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 // expect: TM031
-         [%r3], %rd1, %rd1, %r8, [%r3 + 32], [%r3 + 100], %p3;
+         [%r3], %rd1, %rd1, %r8, [%r3 + 64], [%r3 + 100], %p3;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
