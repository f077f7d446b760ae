"""An arrival with a count that the mbarrier cannot take.

Checks: the count operand of arrivals, followed through registers; also against the count that the object was
initialised with, where its address and that count are constant.
Why: a count is from 1 to 2^20-1, and never more than the arrivals that are still pending.
Not checked: several arrivals that exceed the count together.
"""

from ..protocols.typestate.barriers import Role, find_barriers, initial_count
from ..protocols.typestate.ranges import outside
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_MOST = (1 << 20) - 1


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).having(Role.ARRIVE):
        count = outside(view, use.point, "count", 1, _MOST)
        if count is not None:
            yield Hit(use.point, f"the arrival counts {count}; it must count 1 to {_MOST}")
            continue
        expected = initial_count(view, use)
        count = None if expected is None else outside(view, use.point, "count", 1, expected)
        if count is not None:
            yield Hit(use.point, f"the arrival counts {count}; the mbarrier {use.place} expects {expected}")


RULE = Rule(
    id="MB009",
    name="arrive-count-out-of-range",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.16",
    summary="The count of an arrival is 0, above 1048575, or above what the mbarrier expects.",
    consequence="Undefined: the pending count wraps around and later phases complete at the wrong time or never.",
    advice="Arrive with the number of arrivals that this thread stands for; initialise with their sum.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
  READY:
      bar.sync 0;
-     mov.u32 %r1, 0;
+     mov.u32 %r1, 1;
      @!%p0 mbarrier.arrive.shared::cta.b64 %rd0, [bar], %r1;  // expect: MB009
      ret;
"""),
    check=check,
)
