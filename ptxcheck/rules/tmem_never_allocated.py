"""A use of tensor memory in a kernel that allocates none.

Checks: kernels with `tcgen05.mma`, `.cp`, `.shift`, `.ld` or `.st`, no `tcgen05.alloc` and no call.
Why: all tensor memory must be allocated before it is used; another block may hold the columns.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_100a


def check(view: KernelView) -> Hits:
    point = view.get(TensorMemory).never_allocated()
    if point is not None:
        yield Hit(point, "no tcgen05.alloc in this kernel: the columns may be another block's")


RULE = Rule(
    id="TM018",
    name="tmem-never-allocated",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="A kernel uses tensor memory without allocating it.",
    consequence="Blocks on one multiprocessor overwrite each other's results, or the access faults.",
    advice="Allocate with tcgen05.alloc and take the address that it writes to shared memory.",
    example=sm_100a("""
  (.param .u32 n) .reqntid 128
      .shared .align 4 .b32 slot;
      .shared .align 8 .b64 bar;
-     mov.b32 %r3, 0;
+     mov.u32 %r1, %tid.x;
+     shr.u32 %r2, %r1, 5;
+     setp.eq.u32 %p1, %r2, 0;
+     @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
+     bar.sync 0;
+     ld.shared.b32 %r3, [slot];
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3]; // expect: TM018
      tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1;
+     bar.sync 0;
+     @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
      ret;
"""),
    check=check,
)
