"""An mbarrier that is used and that no thread has initialised.

Checks: each operation on an mbarrier, at the address that it has in a run, against the initialisations of all threads.
MB003 finds the same in the code of one thread; this rule also sees barriers that are addressed by stage or rank.
Why: the contents are whatever was in shared memory.
Source: PTX ISA 9.7.14.16 (any operation but init on an object that is not initialised is undefined).
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB025",
    name="use-before-mbarrier-init",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.12",
    summary="An mbarrier is used that no thread has initialised.",
    consequence="Undefined; usually the kernel hangs.",
    advice="Initialise every stage, in the CTA that the address is of, before its first use.",
    example=Example.variant(
        RING,
        """
+     mbarrier.init.shared::cta.b64 [empty+8], 32;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;  // expect: MB025
""",
    ),
    check=of_flaws("uninitialised"),
)
