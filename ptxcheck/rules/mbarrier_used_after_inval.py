"""An operation on an mbarrier after its invalidation.

Checks: feasible paths of one thread from an invalidation of an object with a constant address to any operation on it
but a new initialisation.
Why: invalidated storage holds no mbarrier. Source: PTX ISA §9.7.14.16.13. Seen as a barrier object destroyed while
others still wait on it.
Not checked: other threads that use the object later.
"""

from ..protocols.typestate.mbarrier_lifecycle import find_lifecycle
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for breach in view.get(find_lifecycle).used_after_inval:
        assert breach.cause is not None
        yield Hit(
            breach.point,
            f"the mbarrier {breach.place} was invalidated before",
            ((breach.cause, "invalidated here"),),
        )


RULE = Rule(
    id="MB005",
    name="mbarrier-used-after-inval",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.13",
    summary="An mbarrier is used after it was invalidated.",
    consequence="Undefined; usually a hang, or a phase that seems complete at once.",
    advice="Invalidate only behind a barrier that all users have passed; initialise again before the next use.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mbarrier.init.shared::cta.b64 [bar], 1;
+     mbarrier.arrive.shared::cta.b64 %rd0, [bar];
      mbarrier.inval.shared::cta.b64 [bar];
-     mbarrier.arrive.shared::cta.b64 %rd0, [bar];  // expect: MB005
  DONE:
      ret;
"""),
    check=check,
    approximates=(Property.LIFECYCLE,),
)
