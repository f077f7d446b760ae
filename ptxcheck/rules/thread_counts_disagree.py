"""Threads that meet at one named barrier and expect different numbers of threads.

Checks: the counts of all instructions that take part in one generation of a barrier in a run, each round apart. NB005
compares the instructions of the kernel without running it.
Why: the barrier completes when one of the counts is reached; the others go wrong.
Source: PTX ISA 9.7.14.1 (all threads of a generation specify the same number).
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import COUNTED
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="NB021",
    name="thread-counts-disagree",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.1",
    summary="Threads that meet at one barrier name different numbers of threads.",
    consequence="Undefined; the kernel hangs, or threads pass too early.",
    advice="Name the same number of threads in every instruction that takes part.",
    example=Example.variant(
        COUNTED,
        """
-     barrier.sync 1, 96;  // expect: NB021
+     barrier.sync 1, 64;  // one
""",
    ),
    check=of_flaws("count-mismatch"),
)
