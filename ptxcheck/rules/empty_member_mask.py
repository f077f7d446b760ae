"""A warp-collective with a member mask of zero.

Checks: masks of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync`, through
registers.
Why: the executing thread must be in the mask; ptxas accepts 0. Source: PTX ISA §9.7.9.6, 9.7.14.2: "the behaviour is
undefined if the executing thread is not in the mask".
Not checked: masks that come from parameters or memory.
"""

from ..protocols.typestate.member_mask import masks
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for point, mask in masks(view):
        if view.facts.constant(point, mask) == 0 and not view.facts.never_runs(point):
            yield Hit(point, "the member mask is zero")


RULE = Rule(
    id="NB009",
    name="empty-member-mask",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.2",
    summary="The member mask is zero: no lane is in it, not even the one that executes the instruction.",
    consequence="The behaviour is undefined: values are garbage, elections elect nobody.",
    advice="Give the mask of the lanes that execute the instruction, 0xffffffff for a whole warp.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
-     mov.b32 %r1, 0;
+     mov.b32 %r1, -1;
      elect.sync %r2|%p1, %r1; // expect: NB009
      ret;
"""),
    check=check,
)
