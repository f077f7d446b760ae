"""Shared memory that two threads or copies write, in an order that nothing fixes.

Checks: as SM020, for two writes.
Why: which bytes stay depends on the schedule. A stage that is too small for its copy is a usual cause.
Source: PTX ISA 8.10 (causality order).
Not checked: see SM020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="SM022",
    name="unordered-writes",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 8.10",
    summary="Two writes of the same bytes of shared memory are in no order.",
    consequence="Either may stay: wrong results, in some runs only.",
    advice="Give each copy its own bytes, or order the writes by a barrier or a wait.",
    example=Example.variant(
        RING,
        """
-     shl.b32 %r10, %r6, 9;
+     shl.b32 %r10, %r6, 10;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: SM022
""",
    ),
    check=of_flaws("writes-collide", mechanisms=("shared",)),
)
