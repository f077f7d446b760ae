"""An mbarrier that one thread initialises a second time while it is alive.

Checks: feasible paths of one thread from an initialisation of an object with a constant address to another one of it,
or around a loop to the same one, with no invalidation between.
Why: storage that holds an mbarrier takes no other use, not even a new initialisation, until it is invalidated;
arrivals and copies in flight count towards the wrong phase. Source: PTX ISA §9.7.14.16.4 and .12. Seen where two
barriers with separate lives got one address.
Not checked: two threads that initialise one object (see MB007).
"""

from ..protocols.typestate.mbarrier_lifecycle import find_lifecycle
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for breach in view.get(find_lifecycle).repeated:
        assert breach.cause is not None
        again = "in every round of this loop" if breach.cause == breach.point else "again"
        related = () if breach.cause == breach.point else ((breach.cause, "first initialised here"),)
        message = f"the mbarrier {breach.place} is initialised {again} while it is alive"
        yield Hit(breach.point, message, related)


RULE = Rule(
    id="MB004",
    name="repeated-mbarrier-init",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.12",
    summary="An mbarrier is initialised again without being invalidated first.",
    consequence=(
        "Undefined; arrivals of the old object are lost or counted in the new one, and waiting threads may hang."
    ),
    advice=(
        "Initialise once, outside loops; or invalidate the object, behind a barrier of all users, before reusing it."
    ),
    example=sm_90a("""
  (.param .u32 tiles) .reqntid 128
      .shared .align 8 .b64 bar;
      ld.param.u32 %r1, [tiles];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      mov.u32 %r2, 0;
  TILE:
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 128;  // expect: MB004
  READY:
      bar.sync 0;
      mbarrier.arrive.shared::cta.b64 %rd0, [bar];
  WAIT:
      mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd0;
      @!%p1 bra WAIT;
      bar.sync 0;
+     @!%p0 mbarrier.inval.shared::cta.b64 [bar];
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p2, %r2, %r1;
      @%p2 bra TILE;
      ret;
"""),
    check=check,
    approximates=(Property.LIFECYCLE,),
)
