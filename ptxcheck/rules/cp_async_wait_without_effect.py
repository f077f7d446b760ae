"""A `cp.async.wait_group` that leaves as many groups open as there can be.

Checks: waits before which, on all paths from the start, no more groups are committed than they leave open, while a
copy is pending.
Why: such a wait returns at once and completes nothing.
Not checked: loops in which the number of groups grows; device functions.
"""

from ..protocols.typestate.copy_groups import small_groups
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_80


def check(view: KernelView) -> Hits:
    groups = view.get(small_groups)
    for slip in groups.without_effect() if view.function.is_entry else ():
        message = f"at most {groups.waits[slip.point]} groups can be open here, and this leaves as many open"
        yield Hit(slip.point, message, related=((slip.copy, "a copy that is pending"),))


RULE = Rule(
    id="CA004",
    name="cp-async-wait-without-effect",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.26.3.3",
    summary="A wait for cp.async groups that never waits.",
    consequence="The copies before it are not complete when it returns.",
    advice="Lower the number of groups that may stay open, and commit before you wait.",
    example=sm_80("""
  (.param .u64 out) .reqntid 32
      .shared .align 128 .b8 tile[512];

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      shl.b32 %r2, %r0, 4;
      mov.u32 %r1, tile;
      add.u32 %r1, %r1, %r2;
      cp.async.ca.shared.global [%r1], [%rd0], 16;
      cp.async.commit_group;
-     cp.async.wait_group 1; // expect: CA004
+     cp.async.wait_group 0;
      bar.sync 0;
      ld.shared.u32 %r3, [tile];
      st.global.u32 [%rd0+64], %r3;
      cp.async.wait_group 0;
      ret;
"""),
    check=check,
)
