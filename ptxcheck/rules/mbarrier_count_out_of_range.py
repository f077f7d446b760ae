"""The arrival count of an initialisation that no mbarrier can have.

Checks: the count of every initialisation, followed through registers.
Why: the count of a phase is from 1 to 2^20-1 (511 for layout v1). With 0 no arrival completes the phase as meant, and
waiting threads hang; some releases of ptxas crash on a constant 0. Source: PTX ISA §9.7.14.16.3 and .12. Seen as a
pipeline without consumers that asked for zero arrivals.
Not checked: counts that depend on parameters.
"""

from ..isa.modifier import Mod
from ..protocols.typestate.barriers import find_barriers
from ..protocols.typestate.ranges import outside
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_MOST = (1 << 20) - 1


_MOST_V1 = (1 << 9) - 1


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).inits:
        most = _MOST_V1 if view.body.instructions[use.point].operation.has(Mod.LAYOUT_V1) else _MOST
        count = outside(view, use.point, "count", 1, most)
        if count is not None:
            yield Hit(use.point, f"the arrival count is {count}; an mbarrier takes 1 to {most}")


RULE = Rule(
    id="MB001",
    name="mbarrier-count-out-of-range",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.16.12",
    summary="The count of an mbarrier initialisation is outside 1 to 1048575.",
    consequence="The object is undefined: usually no phase ever completes and all waiting threads hang.",
    advice="Count the arrivals of one phase and initialise with that; do not create a barrier that nobody arrives on.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
-     mov.u32 %r1, 0;
+     mov.u32 %r1, 1048575;
      setp.eq.u32 %p0, %r0, 0;
      @%p0 mbarrier.init.shared::cta.b64 [bar], %r1;  // expect: MB001
      bar.sync 0;
      ret;
"""),
    check=check,
)
