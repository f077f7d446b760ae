"""A wait that can miss the phase it waits for, because the next one can complete first.

Checks: for each wait on a parity, whether the phase after the one that it names can complete before it has seen it.
Why: a parity tells a phase from the one before it, and no more. A thread that comes late sees the parity of a later
phase, and waits for a completion that may never come, or takes another stage's data for its own.
Source: PTX ISA 9.7.14.16.5.1 (a phase must be observed complete before an arrive-on of the following phase).
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB021",
    name="missed-phase",
    severity=Severity.HANG,
    since="0.2",
    section="PTX ISA 9.7.14.16.5.1",
    summary="The phase after the one that a wait is for can complete before the wait has seen it.",
    consequence="The late thread waits for the wrong phase: it hangs, or goes on with the data of another round.",
    advice=(
        "Let every thread that waits arrive afterwards (or synchronise with the one that does) on the barrier that "
        "lets the next phase begin."
    ),
    example=Example.variant(
        RING,
        """
- .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 96
+ .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 64

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: MB021

-     setp.ge.u32 %p5, %r0, 64;
-     @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r9];
+     mbarrier.arrive.shared::cta.b64 _, [%r9];
""",
    ),
    check=of_flaws("missed-phase"),
)
