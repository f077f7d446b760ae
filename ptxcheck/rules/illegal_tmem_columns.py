"""A number of columns that tensor memory cannot be allocated or freed in.

Checks: the count of `tcgen05.alloc` and `tcgen05.dealloc`, through registers.
Why: it must be a power of two from 32 to 512; ptxas looks at literals alone.
"""

from ..opcodes.op import Op
from ..protocols.typestate.ranges import said
from ..protocols.typestate.tensor_memory import LEGAL_COLUMNS, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    memory = view.get(TensorMemory)
    for op in (Op.TCGEN05_ALLOC, Op.TCGEN05_DEALLOC):
        for point in memory.points[op]:
            columns = memory.columns(point)
            if not any(columns.may_be(count) for count in LEGAL_COLUMNS):
                yield Hit(
                    point, f"the number of columns is {said(columns)}, not a power of two from 32 to 512"
                )


RULE = Rule(
    id="TM001",
    name="illegal-tmem-columns",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="Tensor memory is allocated or freed with an illegal number of columns.",
    consequence="An illegal instruction, or undefined behaviour.",
    advice="Round up to 32, 64, 128, 256 or 512.",
    example=ALLOCATION.variant("""
=     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
-     mov.b32 %r6, 48;
+     mov.b32 %r6, 64;
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r6; // expect: TM001

=     bar.sync 0;
=     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, %r6; // expect: TM001
"""),
    check=check,
)
