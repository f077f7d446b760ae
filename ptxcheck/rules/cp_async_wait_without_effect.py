"""A `cp.async.wait_group` that leaves as many groups open as there can be.

Checks: waits before which, on all paths from the start, no more groups are committed than they leave open, while a
copy is pending.
Why: such a wait returns at once and completes nothing.
Not checked: loops in which the number of groups grows; device functions.
"""

from ..protocols.typestate.copy_groups import small_groups
from .copy_kernels import CP_ASYNC
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    groups = view.get(small_groups)
    for slip in groups.without_effect() if view.function.is_entry else ():
        message = f"at most {groups.waits[slip.point]} groups can be open here, and this leaves as many open"
        yield Hit(slip.point, message, related=((slip.copy, "a copy that is pending"),))


RULE = Rule(
    id="CA004",
    name="cp-async-wait-without-effect",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.3.3",
    summary="A wait for cp.async groups that never waits.",
    consequence="The copies before it are not complete when it returns.",
    advice="Lower the number of groups that may stay open, and commit before you wait.",
    example=CP_ASYNC.variant("""
=     cp.async.commit_group;
      cp.async.commit_group;
-     cp.async.wait_group 1; // expect: CA004
+     cp.async.wait_group 0;
      bar.sync 0;
      ld.shared.u32 %r3, [tile];
      st.global.u32 [%rd0+64], %r3;

=     ld.shared.u32 %r3, [%r1];
=     st.global.u32 [%rd0+64], %r3;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
