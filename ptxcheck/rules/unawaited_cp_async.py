"""A committed `cp.async` that no wait can cover.

Checks: copies after which no `wait_group` that leaves few enough groups open, no `wait_all` and no
`cp.async.mbarrier.arrive` is reachable.
Why: only these complete it; a barrier of the CTA does not. Source: PTX ISA §9.7.9.26.3.
Not checked: device functions; paths that skip a wait which others take, as the last round of a prefetch does. What is
found is only possible for a copy with a predicate in a kernel that waits for others: the rest behind an unrolled
pipeline has the copy of each round, and its predicate never holds there.
"""

from ..opcodes.op import Op
from ..protocols.typestate.copy_groups import small_groups, wrong_waits
from .copy_kernels import CP_ASYNC
from .rule import Confidence, Hit, Hits, KernelView, Property, Rule, Severity

_WAITS = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL})


def check(view: KernelView) -> Hits:
    elsewhere = {slip.copy for slip in view.get(wrong_waits)}
    empty = [slip.point for slip in view.get(small_groups).without_effect()]
    for slip in view.get(small_groups).never_awaited():
        if slip.copy not in elsewhere and not any(view.cfg.reaches(slip.copy, wait) for wait in empty):
            related = ((slip.point, "the thread ends here"),)
            confidence = Confidence.POSSIBLE if _may_never_be(view, slip.copy) else Confidence.PROVED
            yield Hit(slip.copy, "no wait of this thread can cover this copy", related, confidence)


def _may_never_be(view: KernelView, copy: int) -> bool:
    """Tell whether a copy has a predicate, and others of the kernel are waited for."""
    instructions = view.body.instructions
    is_guarded = instructions[copy].guard is not None
    return is_guarded and any(each.operation.op in _WAITS for each in instructions)


RULE = Rule(
    id="CA002",
    name="unawaited-cp-async",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.3.3",
    summary="A cp.async is committed and never waited for.",
    consequence="Whoever reads the destination may see old bytes.",
    advice="Execute cp.async.wait_group or wait_all, then a barrier, before the bytes are read.",
    example=CP_ASYNC.variant("""
      cp.async.ca.shared.global [%r1], [%rd0], 16; // expect: CA002

=     cp.async.wait_group 0;
=     ld.shared.u32 %r3, [%r1];
+     cp.async.wait_group 0;
      bar.sync 0;
      ld.shared.u32 %r3, [tile];
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
