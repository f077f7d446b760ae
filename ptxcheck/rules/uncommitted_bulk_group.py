"""A bulk copy that no `cp.async.bulk.commit_group` follows before the kernel ends.

Checks: feasible paths of one thread from a copy that completes in a group to the end with no commit.
Why: waits cover committed groups only; an uncommitted copy is never waited for. Source: PTX ISA §9.7.9.26.6.
Not checked: device functions; threads other than the one that issues the copy cannot commit for it.
"""

from ..protocols.typestate.copy_groups import bulk_groups
from .copy_kernels import BULK_STORE
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for slip in view.get(bulk_groups).uncommitted:
        related = ((slip.point, "the thread ends here"),)
        yield Hit(slip.copy, "the thread that starts this copy never commits it to a group", related=related)


RULE = Rule(
    id="BG003",
    name="uncommitted-bulk-group",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.6.1",
    summary="A bulk copy is never committed to a group.",
    consequence="No wait covers it: its source may be overwritten or freed while it is read.",
    advice="Execute cp.async.bulk.commit_group after it, in the same thread.",
    example=BULK_STORE.variant("""
=     cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
=     cp.async.bulk.commit_group;
=     cp.async.bulk.wait_group.read 0;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512; // expect: BG003
+     cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
"""),
    check=check,
)
