"""A CTA that can end while another one still reaches into its shared memory.

Checks: whether each access to shared memory or an mbarrier of another CTA, copies and multicasts included, is over
before the last thread of that CTA ends, as far as some thread of it can know. The same for a CTA's own copies onto
mbarriers in a kernel that waits for no mbarrier at all, and for its bulk stores in one that waits for no bulk group.
Why: the shared memory of a CTA that has ended is no longer its own.
Source: PTX ISA 5.1.5; CUDA programming guide, "Distributed Shared Memory" (all blocks stay until accesses are done).
Not checked: see MB020.
"""

from __future__ import annotations

from .protocol_kernels import PAIR
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="CL020",
    name="exit-with-remote-access",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 5.1.5",
    summary="A CTA can end while another one of its cluster still reaches into its shared memory.",
    consequence="Undefined: a fault, or another kernel's memory is changed.",
    advice="End the kernel with a cluster barrier, or with a wait that comes after all remote accesses.",
    example=Example.variant(
        PAIR,
        """
      @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];  // expect: CL020

+ WAIT:
+     mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
+     @!%p2 bra WAIT;

+     barrier.cluster.arrive.release.aligned;
+     barrier.cluster.wait.acquire.aligned;
""",
    ),
    check=of_flaws("exit-with-remote-access"),
)
