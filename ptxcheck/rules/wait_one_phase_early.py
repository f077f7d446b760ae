"""A wait that can pass one phase too early, because the phase before the one it is for may still be open.

Checks: whether each wait on a parity comes after the completion of the phase before, as far as its thread can know.
Why: with two phases open, the parity of the second is also that of the one before the first: the wait passes at once.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import TWO_PHASES
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB024",
    name="wait-one-phase-early",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.14.16.5.1",
    summary="A wait on a parity can pass before the phase that it is for has completed.",
    consequence="The thread goes on too early, with data that has not come.",
    advice="Wait for each phase in turn, or let something else order this wait after the phase before.",
    example=Example.variant(
        TWO_PHASES,
        """
+     mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
+     @!%p2 bra OTHER;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 1;  // expect: MB024
""",
    ),
    check=of_flaws("early-wait"),
)
