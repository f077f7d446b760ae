"""An arrival that can count in the phase before the one that it is meant for.

Checks: whether each arrival at an mbarrier comes after the completion of the phase before, as far as the arriving
thread can know: through a wait, or through another barrier.
Why: a thread that runs ahead arrives twice in one phase. The phase completes without another thread, and that thread's
arrival then counts in the next one.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB022",
    name="arrival-in-earlier-phase",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.5.1",
    summary="An arrival can count in an earlier phase of the mbarrier than it is meant for.",
    consequence=(
        "A phase completes before all its threads have arrived: data is read too early or overwritten too soon, or a "
        "later phase never completes."
    ),
    advice="Wait for the completion of a phase before arriving in the next one.",
    example=Example.variant(
        RING,
        """
+ WAIT_EMPTY:
+     mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;
+     @!%p3 bra WAIT_EMPTY;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;  // expect: MB022
""",
    ),
    check=of_flaws("early-arrival", mechanisms=("mbarrier",)),
)
