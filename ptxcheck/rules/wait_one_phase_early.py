"""A wait that can pass one phase too early, because the phase before the one it is for may still be open.

Checks: whether each wait on a parity comes after the completion of the phase before, as far as its thread can know.
Why: with two phases open, the parity of the second is also that of the one before the first: the wait passes at once.
Source: PTX ISA 9.7.14.16.5.1.
Not checked: see MB020.
"""

from __future__ import annotations

from ..finding import Severity
from .protocol_kernels import TWO_PHASES, changed
from .rule import Rule
from .violations import of_flaws

_BAD = changed(
    TWO_PHASES,
    (
        "OTHER:\n    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n    @!%p2 bra OTHER;\n",
        "OTHER:\n",
    ),
    ("%p3, [bar], 1;", "%p3, [bar], 1;  // expect: MB024"),
)

RULE = Rule(
    id="MB024",
    name="wait-one-phase-early",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.14.16.5.1",
    summary="A wait on a parity can pass before the phase that it is for has completed.",
    consequence="The thread goes on too early, with data that has not come.",
    advice="Wait for each phase in turn, or let something else order this wait after the phase before.",
    bad=_BAD,
    good=TWO_PHASES,
    check=of_flaws("early-wait"),
)
