"""A load, store or atomic of shared memory at a misaligned address.

Checks: every access against its whole size, vector included: for all threads, or, where the block is known and the
address is linear in the thread index, for each of them.
Why: an address must be a multiple of the bytes accessed; ptxas checks none.
Not checked: variables whose declared alignment is below the access size; matrix rows (see SM003).
"""

from ..protocols.typestate.alignment import misaligned
from ..protocols.typestate.shared_access import find_shared_accesses
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_80


def check(view: KernelView) -> Hits:
    for access in view.get(find_shared_accesses):
        if access.is_matrix or access.is_async or access.place is None:
            continue
        where = misaligned(view, access, access.size)
        if where is not None:
            yield Hit(access.point, f"{where} is not a multiple of {access.size}, the bytes accessed")


RULE = Rule(
    id="SM001",
    name="misaligned-shared-access",
    severity=Severity.UNDEFINED,
    section="PTX ISA §6.4.1",
    summary="A shared-memory access is not aligned to its size.",
    consequence="A misaligned-address fault, or low address bits silently dropped.",
    advice="Align the variable and the offset to the whole vector, or use a narrower access.",
    example=sm_80("""
  () .reqntid 32
      .shared .align 16 .b8 tile[1024];
      mov.u32 %r0, %tid.x;
      shl.b32 %r1, %r0, 4;
      mov.u32 %r2, tile;
      add.u32 %r3, %r2, %r1;
-     ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3+4];  // expect: SM001
+     ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3+16];
      ret;
"""),
    of_form=True,
    check=check,
)
