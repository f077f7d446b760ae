"""Bytes of a live mbarrier that an ordinary access, a copy or a matrix operation touches.

Checks: each access of shared memory in a run against the mbarriers that are alive then. MB006 finds ordinary accesses
by the code of one thread.
Why: only mbarrier operations may touch an mbarrier; a copy that is longer than its buffer changes the one behind it.
Not checked: accesses whose place cannot be followed.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB029",
    name="mbarrier-overwritten",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.4",
    summary="Bytes of a live mbarrier are accessed by something else than mbarrier operations.",
    consequence="Undefined; arrivals are lost, and the kernel hangs.",
    advice="Keep buffers and mbarriers apart, or invalidate the mbarrier before its bytes are used otherwise.",
    example=Example.variant(
        RING,
        """
-     shl.b32 %r10, %r6, 11;
+     shl.b32 %r10, %r6, 10;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: MB029
""",
    ),
    check=of_flaws("barrier-overwritten"),
)
