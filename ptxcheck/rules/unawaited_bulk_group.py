"""A committed bulk copy that no wait can cover.

Checks: copies after which, on all paths, no `cp.async.bulk.wait_group` leaves few enough groups open. Released kernels
end with their last store open. So paths that skip the wait, while others do not, are reported as possible, and so are
copies outside of loops in kernels that wait for others.
Why: until it has completed, nobody may change its source, and the CTA's shared memory is freed at its end. Source: PTX
ISA 9.7.9.26.1 and 9.7.9.26.6.2.
Not checked: device functions.
"""

from ..protocols.typestate.copy_groups import bulk_groups, wrong_waits
from .copy_kernels import BULK_STORE
from .rule import Confidence, Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    groups = view.get(bulk_groups)
    sure = {slip.copy: slip for slip in groups.never_awaited()}
    elsewhere = {slip.copy for slip in view.get(wrong_waits)}
    for slip in sure.values():
        if slip.copy not in elsewhere:
            related = ((slip.point, "the thread ends here"),)
            is_last = bool(groups.waits) and not view.cfg.reaches(slip.copy, slip.copy)
            confidence = Confidence.POSSIBLE if is_last else Confidence.PROVED
            yield Hit(
                slip.copy, "no wait of the thread that starts this copy can cover it", related, confidence
            )
    uncommitted = {slip.copy for slip in groups.uncommitted}
    for slip in groups.unawaited():
        if slip.copy not in sure and slip.copy not in uncommitted:
            message = "on some path the thread ends without having waited for this copy"
            yield Hit(slip.copy, message, ((slip.point, "it ends here"),), Confidence.POSSIBLE)


RULE = Rule(
    id="BG004",
    name="unawaited-bulk-group",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.6.2",
    summary="A bulk copy is committed and never waited for.",
    consequence="Its source in shared memory may be overwritten or freed before it is read.",
    advice="Wait with cp.async.bulk.wait_group.read 0 before the buffer is reused and before the thread ends.",
    example=BULK_STORE.variant("""
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512; // expect: BG004

+     cp.async.bulk.wait_group.read 0;
"""),
    check=check,
    approximates=(Property.EXIT_SAFETY, Property.SLOT_SAFETY),
)
