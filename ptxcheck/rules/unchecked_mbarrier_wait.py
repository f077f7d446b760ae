"""A wait whose answer nobody looks at.

Checks: test and try waits whose result no instruction reads, or only those that hand it on to nobody.
Why: neither form blocks until the phase is complete; `try_wait` gives up after a time limit. Only the result says
whether the phase is over, so the wait must be repeated until it is true. Source: PTX ISA §9.7.14.16.19. Only possible
where other waits on the same mbarrier are read, or may be on the same: one may look ahead to a round that does not
come, as compilers leave it behind in what remains of an unrolled loop.
Not checked: results that are read but do not decide whether the wait is repeated.
"""

from ..protocols.typestate.barriers import Role, find_barriers
from ..protocols.typestate.dead_results import is_looked_at
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    waits = list(view.get(find_barriers).having(Role.WAIT))
    read = [use.place for use in waits if use.place is not None and is_looked_at(view, use.point)]
    for use in waits:
        if not is_looked_at(view, use.point):
            looks_ahead = use.place is not None and any(map(use.may_be, read))
            yield Hit(
                use.point,
                "the result of this wait is never read, so the thread does not wait",
                confidence=Confidence.POSSIBLE if looks_ahead else Confidence.PROVED,
            )


RULE = Rule(
    id="MB011",
    name="unchecked-mbarrier-wait",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.14.16.19",
    summary="The result of a test or try wait is never read.",
    consequence="The thread goes on before the phase is complete and uses data that has not arrived.",
    advice="Loop until the result is true.",
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
+ WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;  // expect: MB011
+     @!%p1 bra WAIT;
      ret;
"""),
    check=check,
)
