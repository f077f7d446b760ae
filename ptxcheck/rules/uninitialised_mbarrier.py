"""An mbarrier that is used before it is surely initialised.

Checks: objects with a constant address. A use is reported when nothing in the kernel initialises the object, or when a
feasible path from the entry comes to it without initialising it and without any synchronisation that another thread's
initialisation could be ordered by.
Why: an operation on storage that holds no mbarrier is undefined; most often it hangs. Source: PTX ISA §9.7.14.16. Seen
as one thread initialising and the rest not waiting for it, and as an arrive-and-expect call mistaken for an
initialisation.
Not checked: barriers passed in by pointer, and kernels that call functions which may initialise them.
"""

from ..protocols.typestate.mbarrier_lifecycle import find_lifecycle
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for breach in view.get(find_lifecycle).never_initialised:
        yield Hit(breach.point, f"nothing in this kernel initialises the mbarrier {breach.place}")
    for breach in view.get(find_lifecycle).used_too_early:
        assert breach.cause is not None
        yield Hit(
            breach.point,
            f"a thread gets here without waiting for the one that initialises the mbarrier {breach.place}",
            ((breach.cause, "initialised here"),),
        )


RULE = Rule(
    id="MB003",
    name="uninitialised-mbarrier",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.16.12",
    summary=(
        "An mbarrier is used though it is not initialised, or though another thread may not have initialised it yet."
    ),
    consequence=(
        "The operation works on whatever the memory holds: a hang, or a phase that completes at the wrong time."
    ),
    advice="Initialise the barrier in one thread, then synchronise the CTA (or cluster) before any thread uses it.",
    example=sm_90a("""
  () .reqntid 128
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 128;
  READY:
+     bar.sync 0;
      mbarrier.arrive.shared::cta.b64 %rd0, [bar];  // expect: MB003
  WAIT:
      mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd0;
      @!%p1 bra WAIT;
      ret;
"""),
    check=check,
    approximates=(Property.LIFECYCLE,),
)
