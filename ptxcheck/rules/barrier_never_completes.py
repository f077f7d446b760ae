"""Threads that wait at a named barrier or the cluster barrier, or for registers, for others that never come.

Checks: runs of the whole kernel, all threads of a CTA or cluster together, in which no thread can go on.
Why: the kernel hangs. Two barriers taken in a different order by two roles are a usual cause, and a role that leaves
its loop one round earlier than the other.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import COUNTED
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="NB020",
    name="barrier-never-completes",
    severity=Severity.HANG,
    since="0.2",
    section="PTX ISA 9.7.14.1",
    summary="Threads wait at a named barrier or the cluster barrier for others that never arrive.",
    consequence="The kernel hangs.",
    advice="Let all roles pass the barriers that they share in the same order, and equally often.",
    example=Example.variant(
        COUNTED,
        """
      barrier.sync 1, 64;  // expect: NB020

-     barrier.sync 2, 64;
-     barrier.sync 1, 64;
+     barrier.sync 1, 64;  // one
+     barrier.sync 2, 64;  // two
""",
    ),
    check=of_flaws("deadlock", mechanisms=("bar", "cluster", "warp", "registers", "")),
)
