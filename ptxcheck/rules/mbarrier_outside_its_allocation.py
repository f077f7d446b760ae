"""An mbarrier outside the variable that it is addressed through.

Checks: mbarrier operands at an offset into a shared variable of known size.
Why: the word belongs to another variable or to nobody; an array of barriers was declared too short. Source: PTX ISA
5.1.7 and 9.7.14.16.1.
Not checked: dynamic shared memory, whose size the launch decides.
"""

from ..protocols.typestate.barriers import BARRIER_BYTES, find_barriers
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).uses:
        if use.place is None or use.place.size is None:
            continue
        low, high = use.place.span
        if low + BARRIER_BYTES > use.place.size or high < 0:
            size = f"'{use.place.variable.name}' has {use.place.size} bytes"
            yield Hit(use.point, f"the mbarrier at offset {low} is outside its variable: {size}")


RULE = Rule(
    id="MB016",
    name="mbarrier-outside-its-allocation",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.1",
    summary="An mbarrier operand lies outside the shared variable that it is addressed through.",
    consequence="It overlaps other data, or faults.",
    advice="Declare storage for all barriers: 8 bytes each, for full and empty barriers of all stages.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bars[2];
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, bars;
      setp.eq.u32 %p0, %r0, 0;
      @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
      @%p0 mbarrier.init.shared::cta.b64 [%r1+8], 1;
-     @%p0 mbarrier.init.shared::cta.b64 [%r1+16], 1;  // expect: MB016
      bar.sync 0;
      ret;
"""),
    check=check,
)
