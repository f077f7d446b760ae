"""Shared memory that two threads or copies write, in an order that nothing fixes.

Checks: as SM020, for two writes.
Why: which bytes stay depends on the schedule. A stage that is too small for its copy is a usual cause.
Source: PTX ISA 8.10 (causality order).
Not checked: see SM020.
"""

from __future__ import annotations

from ..finding import Severity
from .protocol_kernels import RING, changed
from .rule import Rule
from .violations import of_flaws

_BAD = changed(
    RING,
    ("    shl.b32 %r10, %r6, 10;", "    shl.b32 %r10, %r6, 9;"),
    ("[%r10], [%rd0], 1024, [%r8];", "[%r10], [%rd0], 1024, [%r8];  // expect: SM022"),
)

RULE = Rule(
    id="SM022",
    name="unordered-writes",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 8.10",
    summary="Two writes of the same bytes of shared memory are in no order.",
    consequence="Either may stay: wrong results, in some runs only.",
    advice="Give each copy its own bytes, or order the writes by a barrier or a wait.",
    bad=_BAD,
    good=RING,
    check=of_flaws("writes-collide", mechanisms=("shared",)),
)
