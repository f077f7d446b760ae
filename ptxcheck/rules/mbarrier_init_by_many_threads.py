"""An mbarrier that several threads initialise.

Checks: initialisations of one object, at one address for all threads, that more than one thread of the CTA surely
executes: no thread-dependent condition guards them, or an election alone in a block of several warps.
Why: the second initialisation finds a live object, perhaps after other threads have arrived on it. Source: PTX ISA
9.7.14.16.12. Seen as an initialisation under an election only, so once per warp.
Not checked: kernels that may be launched with one thread only.
"""

from ..protocols.typestate.barriers import find_barriers
from ..protocols.typestate.crowd import crowd
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).inits:
        if use.place is None or use.place.at is None or not use.is_local:
            continue
        threads = crowd(view, use.point)
        if threads > 1:
            number = f"{threads} threads" if view.launch.threads is not None else "all threads"
            yield Hit(use.point, f"{number} of the CTA initialise the mbarrier {use.place}")


RULE = Rule(
    id="MB007",
    name="mbarrier-init-by-many-threads",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.12",
    summary="More than one thread initialises the same mbarrier.",
    consequence=(
        "Undefined; arrivals between the initialisations are lost and waiting threads hang, rarely and on some days."
    ),
    advice="Let one thread of the CTA initialise (thread 0, or the elected lane of one warp), then synchronise.",
    example=sm_90a("""
  () .reqntid 128
      .shared .align 8 .b64 bar;
-     mbarrier.init.shared::cta.b64 [bar], 128;  // expect: MB007
+     mov.u32 %r0, %tid.x;
+     setp.eq.u32 %p0, %r0, 0;
+     @%p0 mbarrier.init.shared::cta.b64 [bar], 128;
      bar.sync 0;
      mbarrier.arrive.shared::cta.b64 %rd0, [bar];
      ret;
"""),
    check=check,
    approximates=(Property.LIFECYCLE,),
)
