"""An mbarrier that is initialised again while it is alive, by another thread or under another address.

Checks: each initialisation, at the address that it has in a run, against those of all threads before it. MB004 and
MB007 find the same in the code of one thread.
Why: arrivals and bytes that have come already are lost.
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB026",
    name="mbarrier-initialised-twice",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.14.16.12",
    summary="An mbarrier is initialised while it is alive.",
    consequence="Undefined; arrivals that have come already are lost, and the kernel hangs.",
    advice=(
        "Let one thread initialise each mbarrier once, or invalidate it, behind a barrier of all its users, in "
        "between."
    ),
    example=Example.variant(
        RING,
        """
-     and.b32 %r13, %r0, 31;
-     setp.ne.u32 %p5, %r13, 0;
-     @%p5 bra READY;
+     @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [full], 1;  // expect: MB026
      mbarrier.init.shared::cta.b64 [full+8], 1;  // expect: MB026
      mbarrier.init.shared::cta.b64 [empty], 32;  // expect: MB026
      mbarrier.init.shared::cta.b64 [empty+8], 32;  // expect: MB026
""",
    ),
    check=of_flaws("double-init"),
)
