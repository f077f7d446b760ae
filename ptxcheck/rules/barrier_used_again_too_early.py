"""An arrival at a named barrier or the cluster barrier that can count in an earlier generation than it is meant for.

Checks: whether each arrival comes after the completion of the generation before, as far as the thread can know, and
that no more threads arrive than the barrier waits for.
Why: a warp that arrives twice stands for one that has not come: the others pass too early, and the last one hangs.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import COUNTED
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="NB022",
    name="barrier-used-again-too-early",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.1",
    summary="An arrival at a barrier can count in an earlier generation of it.",
    consequence="Threads pass before all others have come; later ones hang.",
    advice="Let whoever arrives again first wait for the generation before, or use two barriers in turn.",
    example=Example.variant(
        COUNTED,
        """
-     barrier.arrive 1, 64;
-     barrier.arrive 1, 64;  // expect: NB022
+     barrier.sync 1, 64;
+     barrier.sync 2, 64;

-     barrier.sync 1, 64;  // expect: NB022
-     barrier.sync 1, 64;
+     barrier.sync 1, 64;  // one
+     barrier.sync 2, 64;  // two
""",
    ),
    check=of_flaws("early-arrival", "over-arrival", mechanisms=("bar", "cluster")),
)
