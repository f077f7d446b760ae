"""A copy whose bytes can count in the phase before the one that they are meant for.

Checks: whether each copy onto an mbarrier is started after the completion of the phase before, as far as the thread
that starts it can know.
Why: bytes of the next round end the phase of this one, and its own bytes are missing later. The copy also writes a
stage that is still being read.
Source: PTX ISA 9.7.14.16.5.1, 9.7.14.16.8.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TX003",
    name="copy-in-earlier-phase",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.5.1",
    summary="A copy is started before the phase before its own is known to be complete.",
    consequence="Its bytes can count in the wrong phase: data is read before it has come, or the kernel hangs.",
    advice="Wait until the stage is free (its `empty` barrier) before starting the next copy into it.",
    example=Example.variant(
        RING,
        """
+ WAIT_EMPTY:
+     mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;
+     @!%p3 bra WAIT_EMPTY;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: TX003
""",
    ),
    check=of_flaws("early-transfer"),
)
