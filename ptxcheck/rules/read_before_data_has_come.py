"""Shared memory that is read before what another thread, or a copy, writes there is known to have come.

Checks: every two accesses of overlapping bytes in a run of the whole kernel, ordinary ones, copies and matrix
operations alike: the read must come after the write, and see it, in every schedule.
Why: the read gets old bytes, or part of them.
Source: PTX ISA 8.10 (causality order); 9.7.14.16 (what a wait on an mbarrier makes visible).
Not checked: accesses whose place cannot be followed; the verdict on slot safety is `unknown` then.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="SM020",
    name="read-before-data-has-come",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 8.10, 9.7.14.16",
    summary="Shared memory is read, and nothing orders the read after the write of the same bytes.",
    consequence="Wrong results, in some runs only.",
    advice="Wait for the mbarrier or group of the copy, or put a barrier between writing and reading threads.",
    example=Example.variant(
        RING,
        """
      add.u32 %r14, %r4, %r14;
      shr.u32 %r11, %r5, 1;
      and.b32 %r11, %r11, 1;
-     ld.shared.u32 %r15, [%r14];  // expect: SM020
""",
    ),
    check=of_flaws("read-too-early", mechanisms=("shared",)),
)
