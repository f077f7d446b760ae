"""A matrix row at an address that is no multiple of 16.

Checks: the row addresses of `ldmatrix` and `stmatrix`: for all threads, or, where the block is known and the address
is linear in the thread index, for each thread.
Why: each lane gives the address of one row of 16 bytes, which must be aligned to it. Source: PTX ISA §9.7.15.5.15 and
.16.
Not checked: rows at addresses that depend on more than the thread index, unless all are misaligned.
"""

from ..protocols.typestate.alignment import misaligned
from ..protocols.typestate.shared_access import ROW_BYTES, find_shared_accesses
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_80


def check(view: KernelView) -> Hits:
    for access in view.get(find_shared_accesses):
        if not access.is_matrix or access.place is None:
            continue
        where = misaligned(view, access, ROW_BYTES)
        if where is not None:
            yield Hit(access.point, f"the matrix row at {where} is not a multiple of {ROW_BYTES}")


RULE = Rule(
    id="SM003",
    name="misaligned-matrix-row",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.15.5.15",
    summary="A row address of a matrix load or store is not 16-byte aligned.",
    consequence="A misaligned-address fault or wrong matrix elements.",
    advice="Keep rows at multiples of 16 bytes: pad the row pitch to a multiple of 16.",
    example=sm_80("""
  () .reqntid 32
      .shared .align 16 .b8 tile[1024];
      mov.u32 %r0, %tid.x;
      mul.lo.u32 %r1, %r0, 16;
      mov.u32 %r2, tile;
      add.u32 %r3, %r2, %r1;
-     ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3+8];  // expect: SM003
+     ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3+16];
      ret;
"""),
    of_form=True,
    check=check,
)
