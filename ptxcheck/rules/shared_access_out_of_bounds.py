"""A load, store or atomic beyond the shared variable that it is addressed through.

Checks: accesses of a variable of known size at an offset that is outside for every thread, or, where the block is
known and the offset is linear in the thread index, for one thread.
Why: the bytes belong to another variable or to nobody.
Not checked: dynamic shared memory; memory of other CTAs is checked like the own.
"""

from ..protocols.typestate.alignment import out_of_bounds
from ..protocols.typestate.shared_access import find_shared_accesses
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_80


def check(view: KernelView) -> Hits:
    for access in view.get(find_shared_accesses):
        if access.place is None or access.place.size is None:
            continue
        offset = out_of_bounds(view, access)
        if offset is not None:
            size = f"'{access.place.variable.name}', which has {access.place.size} bytes"
            yield Hit(access.point, f"{access.size} bytes at {offset} are outside {size}")


RULE = Rule(
    id="SM002",
    name="shared-access-out-of-bounds",
    severity=Severity.UNDEFINED,
    section="PTX ISA §5.1.7",
    summary="A shared-memory access lies outside the variable that it is addressed through.",
    consequence="Other data is overwritten or read, or the kernel faults.",
    advice="Correct the offset or enlarge the array.",
    example=sm_80("""
  ()
      .shared .align 16 .b8 tile[1024];
      mov.u32 %r0, tile;
      mov.u32 %r1, 0;
-     st.shared.u32 [%r0+1024], %r1;  // expect: SM002
+     st.shared.u32 [%r0+1020], %r1;
      ret;
"""),
    check=check,
)
