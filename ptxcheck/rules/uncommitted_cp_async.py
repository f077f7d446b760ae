"""A `cp.async` that is never committed to a group.

Checks: feasible paths from a copy to the end of the kernel with no commit, no `wait_all` and no arrival for it, where
each path passes a `wait_group`, or none has anything that could complete the copy.
Why: `wait_group` covers committed groups only.
Not checked: device functions.
"""

from ..protocols.typestate.copy_groups import small_groups
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_80


def check(view: KernelView) -> Hits:
    groups = view.get(small_groups)
    cfg = view.cfg
    for slip in groups.uncommitted:
        waits = [wait for wait in groups.waits if cfg.postdominates(wait, slip.copy)]
        waits = [wait for wait in waits if cfg.reaches(slip.copy, wait)]
        if waits:
            related = ((min(waits), "this wait does not cover it"),)
            yield Hit(slip.copy, "this copy is never committed to a group", related=related)
        elif not any(cfg.reaches(slip.copy, point) for point in groups.covering(slip.copy)):
            yield Hit(slip.copy, "this copy is never committed to a group nor waited for")


RULE = Rule(
    id="CA005",
    name="uncommitted-cp-async",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.26.3.2",
    summary="A cp.async is never committed to a group.",
    consequence="No wait covers it, and its bytes may be missing when they are read.",
    advice="Execute cp.async.commit_group before the wait, or use cp.async.wait_all.",
    example=sm_80("""
  (.param .u64 out) .reqntid 32
      .shared .align 128 .b8 tile[512];

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      shl.b32 %r2, %r0, 4;
      mov.u32 %r1, tile;
      add.u32 %r1, %r1, %r2;
      cp.async.ca.shared.global [%r1], [%rd0], 16; // expect: CA005
+     cp.async.commit_group;
      cp.async.wait_group 0;
      bar.sync 0;
      ld.shared.u32 %r3, [tile];
      st.global.u32 [%rd0+64], %r3;
      ret;
"""),
    check=check,
)
