"""A `cp.async` that is never committed to a group.

Checks: feasible paths from a copy to the end of the kernel with no commit, no `wait_all` and no arrival for it, where
each path passes a `wait_group`, or none has anything that could complete the copy.
Why: `wait_group` covers committed groups only.
Not checked: device functions.
"""

from ..protocols.typestate.copy_groups import small_groups
from .copy_kernels import CP_ASYNC
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


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
    section="PTX ISA §9.7.9.26.3.2",
    summary="A cp.async is never committed to a group.",
    consequence="No wait covers it, and its bytes may be missing when they are read.",
    advice="Execute cp.async.commit_group before the wait, or use cp.async.wait_all.",
    example=CP_ASYNC.variant("""
      cp.async.ca.shared.global [%r1], [%rd0], 16; // expect: CA005
+     cp.async.commit_group;

=     ld.shared.u32 %r3, [%r1];
      bar.sync 0;
      ld.shared.u32 %r3, [tile];
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
