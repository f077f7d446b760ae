"""A wait for a phase of an mbarrier that never completes, because arrivals are missing.

Checks: runs of the whole kernel, all threads of a CTA or cluster together, in which no thread can go on; the
counterexample says who waits for what, and who would have had to arrive.
Why: the kernel hangs. Usual causes are a parity that is one phase off, a release that one role leaves out on its last
round, an expected count that no longer fits the number of arriving threads, and roles that wait for each other.
Source: PTX ISA 9.7.14.16.8 (a phase completes when all its arrivals and bytes have come).
Not checked: kernels that verification cannot follow; their verdict is `unknown`.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB020",
    name="mbarrier-never-completes",
    severity=Severity.HANG,
    since="0.2",
    section="PTX ISA 9.7.14.16.8",
    summary="Threads wait for a phase of an mbarrier that never completes.",
    consequence="The kernel hangs.",
    advice=(
        "Follow the steps of each role: either the wait names the wrong parity, or an arrival is missing, or the "
        "expected count is too high."
    ),
    example=Example.variant(
        RING,
        """
-     mov.u32 %r12, %r11;
+     xor.b32 %r12, %r11, 1;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;  // expect: MB020
""",
    ),
    check=of_flaws("deadlock", mechanisms=("mbarrier",), causes=("arrivals",)),
)
