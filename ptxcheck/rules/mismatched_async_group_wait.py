"""A wait for groups of the other kind: `cp.async` and bulk copies are counted apart.

Checks: waits of one kind in kernels that start copies of the other kind only, behind such a copy that nothing waits
for.
Why: `cp.async.wait_group` never waits for a bulk copy, nor `cp.async.bulk.wait_group` for a `cp.async`.
Not checked: kernels that use both kinds.
"""

from ..protocols.typestate.copy_groups import bulk_groups, wrong_waits
from .copy_kernels import BULK_STORE
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    for slip in view.get(wrong_waits):
        is_bulk = slip.copy in view.get(bulk_groups).copies
        pending, waited = ("a bulk copy", "cp.async") if is_bulk else ("a cp.async", "bulk copies")
        message = f"{pending} is pending, but this waits for {waited} only, of which there are none"
        yield Hit(slip.point, message, related=((slip.copy, "the copy"),))


RULE = Rule(
    id="BG005",
    name="mismatched-async-group-wait",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.1.1",
    summary="The wait is for the other kind of asynchronous copies.",
    consequence="The copy is not waited for; what follows races with it.",
    advice="Use cp.async.bulk.wait_group for bulk copies and cp.async.wait_group for cp.async.",
    example=BULK_STORE.variant("""
=     cp.async.bulk.wait_group.read 0;
-     cp.async.wait_group 0; // expect: BG005
+     cp.async.bulk.wait_group 0;
"""),
    check=check,
    approximates=(Property.EXIT_SAFETY, Property.SLOT_SAFETY),
)
