"""A phase of an mbarrier in which the bytes that copies bring are not the bytes that are expected.

Checks: for each phase in a run, the bytes of all `expect_tx` against the bytes of all copies onto the mbarrier, of all
threads and CTAs. Bytes that depend on tensor maps or parameters give an equation of the contract instead, which is
checked when values are given (`--assume`).
Why: a phase completes when its arrivals have come and its byte count is zero, neither above nor below.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TX001",
    name="unbalanced-bytes",
    severity=Severity.HANG,
    since="0.2",
    section="PTX ISA 9.7.14.16.8",
    summary="The bytes that complete in a phase of an mbarrier are not the bytes that are expected.",
    consequence="The phase never completes, and the kernel hangs; or it completes before the data has come.",
    advice="Make the expected bytes the sum of the boxes of all copies of the phase, those of other CTAs included.",
    example=Example.variant(
        RING,
        """
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 2048;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: TX001
""",
    ),
    check=of_flaws("tx-mismatch", "deadlock", mechanisms=("mbarrier",), causes=("bytes",)),
)
