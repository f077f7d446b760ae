"""More bytes expected in one phase of an mbarrier than its byte count can hold.

Checks: the sum of all `expect_tx` of a phase in a run. MB009 checks single instructions.
Why: the byte count of a phase goes from -(2^20-1) to 2^20-1.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TX002",
    name="expected-bytes-out-of-range",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.3",
    summary="More than 1048575 bytes are expected in one phase of an mbarrier.",
    consequence="Undefined; the count wraps, and the phase completes at the wrong time or never.",
    advice="Use a second mbarrier, or several phases, for so many bytes.",
    example=Example.variant(
        RING,
        """
-     mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r8], 1048000;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;  // expect: TX002
""",
    ),
    check=of_flaws("tx-range"),
)
