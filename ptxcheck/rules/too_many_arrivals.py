"""More arrivals in one phase of an mbarrier than its expected count.

Checks: arrivals of all threads in each phase of each mbarrier, against the count that it was initialised with.
Why: the pending count goes below zero; what is too much counts in later phases.
Source: PTX ISA 9.7.14.16.8; the range of the pending count is in 9.7.14.16.3.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB023",
    name="too-many-arrivals",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.8",
    summary="More threads arrive in one phase of an mbarrier than the count that it was initialised with.",
    consequence="Undefined; the surplus ends later phases too early, so data is read before it has come.",
    advice="Initialise the mbarrier with the number of arrivals of a phase, or let fewer threads arrive.",
    example=Example.variant(
        RING,
        """
-     mbarrier.init.shared::cta.b64 [empty], 16;
-     mbarrier.init.shared::cta.b64 [empty+8], 16;
+     mbarrier.init.shared::cta.b64 [empty], 32;
+     mbarrier.init.shared::cta.b64 [empty+8], 32;

      mbarrier.arrive.shared::cta.b64 _, [%r9];  // expect: MB023
""",
    ),
    check=of_flaws("over-arrival", mechanisms=("mbarrier",)),
)
