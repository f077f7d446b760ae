"""A `tcgen05.alloc` of more columns than an earlier one of the same block.

Checks: two allocations on a feasible path of one thread, of which the second surely has more columns.
Why: the sizes of successive allocations of a block must not grow.
Not checked: allocations by different warps.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_100a


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemory).growing():
        related = ((pair.first, "the smaller allocation before"),)
        yield Hit(pair.then, "more columns are allocated than before", related=related)


RULE = Rule(
    id="TM004",
    name="increasing-tmem-allocation",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="An allocation of tensor memory is larger than one before it.",
    consequence="Undefined: two blocks of a multiprocessor may wait for each other.",
    advice="Allocate the largest number of columns first, or all at once.",
    example=sm_100a("""
  (.param .u32 n) .reqntid 128
      .shared .align 4 .b32 slot;
      .shared .align 4 .b32 slot2;
      .shared .align 8 .b64 bar;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.eq.u32 %p1, %r2, 0;
-     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
-     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot2], 64; // expect: TM004
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot2], 32;
      bar.sync 0;
      ld.shared.b32 %r3, [slot];
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;
+     ld.shared.b32 %r3, [slot2];
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
-     ld.shared.b32 %r3, [slot2];
-     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;
      ret;
"""),
    check=check,
)
