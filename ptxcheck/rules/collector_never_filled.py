"""A `tcgen05.mma` that takes an operand from a collector buffer that nothing has filled.

Checks: feasible paths from the start of the kernel to a multiplication with `::use` or `::lastuse` and no `::fill` of
the same buffer before.
Why: the multiplication reads what an earlier one left in the buffer.
Not checked: whether what was filled is still the same operand.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import MULTIPLIED


def check(view: KernelView) -> Hits:
    for point, buffer in view.get(TensorMemoryUse).collectors_never_filled():
        yield Hit(point, f"collector buffer {buffer} is not filled on some way to this multiplication")


RULE = Rule(
    id="TM029",
    name="collector-never-filled",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.10.4",
    summary="A collector buffer is used that no multiplication before has filled.",
    consequence="The operand is whatever the buffer holds.",
    advice="Let an earlier tcgen05.mma with the same operand fill the buffer.",
    example=MULTIPLIED.variant("""
=     @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd1, %r8, %p3;
-     @%p2 tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r3], %rd1, %rd1, %r8, %p3; // expect: TM029
+     @%p2 tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r3], %rd1, %rd1, %r8, %p3;
+     @%p2 tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%r3], %rd1, %rd1, %r8, %p3;
"""),
    check=check,
)
