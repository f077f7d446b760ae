"""A parity other than 0 and 1.

Checks: the parity operand of waits, followed through registers.
Why: the operand names the even or the odd phase; other numbers are undefined. ptxas rejects literals only.
Not checked: parities that depend on parameters or loop counters of unknown range.
"""

from ..protocols.typestate.barriers import Role, find_barriers
from ..protocols.typestate.ranges import outside
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).having(Role.WAIT):
        parity = outside(view, use.point, "parity", 0, 1)
        if parity is not None:
            yield Hit(use.point, f"the parity is {parity}; it must be 0 or 1")


RULE = Rule(
    id="MB010",
    name="parity-out-of-range",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.19",
    summary="The parity operand of a wait is neither 0 nor 1.",
    consequence="Undefined: the wait may pass at once or never.",
    advice="Pass the phase number modulo 2.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
  READY:
      bar.sync 0;
      @!%p0 mbarrier.arrive.shared::cta.b64 %rd0, [bar];
-     mov.u32 %r1, 2;
+     mov.u32 %r1, 0;
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r1;  // expect: MB010
      @!%p1 bra WAIT;
      ret;
"""),
    check=check,
)
