"""A warp that only waits, and that nobody waits for: it may be left behind by more than a phase.

Checks: in a run of the whole kernel, waits behind which a warp does nothing that concerns others, where the phase
after the one that it waits for can complete first, though nothing is late as long as every warp comes in time.
Why: a parity tells a phase from the one before it, and no more: a warp that falls behind by two phases waits for ever.
Compilers let a whole warpgroup wait for room that one of its threads fills, and such warps come in time: the rule is
pedantic. Where the warp uses what it waits for, or the wait hangs without being late, it is MB021 or MB020.
Source: PTX ISA 9.7.14.16.5.1 (a phase must be observed complete before an arrive-on of the following phase).
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB032",
    name="wait-of-a-bystander",
    severity=Severity.HANG,
    pedantic=True,
    since="0.2",
    section="PTX ISA 9.7.14.16.5.1",
    summary="A warp that nobody waits for waits for a phase, and the one after that can complete first.",
    consequence="If the warp falls behind by two phases, it waits for ever, and the kernel does not end.",
    advice="Let only threads wait that use what they wait for, or let all arrive on what begins the next phase.",
    example=Example.variant(
        RING,
        """
- .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 96
+ .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 64

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: MB032

-     setp.ge.u32 %p5, %r0, 64;
-     @!%p5 ld.shared.u32 %r13, [%r14];
-     @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r9];
+     ld.shared.u32 %r13, [%r14];
+     mbarrier.arrive.shared::cta.b64 _, [%r9];
""",
    ),
    check=of_flaws("late-bystander", strict=True),
)
