"""A CTA that may end while a copy into or out of its shared memory is still under way.

Checks: whether some thread of the CTA knows, before it ends, that each copy is complete. CL020 finds accesses by other
CTAs, and copies of kernels that wait for none of their kind; other copies that the CTA has started itself are found
here, and arrivals of `tcgen05.commit` at another CTA that has waited for a later commit of the same thread.
Why: shared memory may belong to the next CTA. Released kernels end with loads under way that nobody needs, and with
stores that only their commit follows: the rule is pedantic.
Source: PTX ISA 9.7.9.25 (bulk copies), CUDA C++ Programming Guide, asynchronous data copies.
Not checked: see CL020.
"""

from __future__ import annotations

from .protocol_kernels import COPY
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="CL021",
    name="copy-under-way-at-exit",
    severity=Severity.UNDEFINED,
    pedantic=True,
    since="0.2",
    section="PTX ISA 9.7.9.25",
    summary="The CTA may end while one of its own copies still moves bytes of its shared memory.",
    consequence="The copy may write to shared memory of the next CTA, or read what that has written.",
    advice="Wait for the mbarrier of each load and for the groups of stores before the last thread ends.",
    example=Example.variant(
        COPY,
        """
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024;
-     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 1024, [%r1];  // expect: CL021
+     mbarrier.inval.shared::cta.b64 [%r1];
""",
    ),
    check=of_flaws("exit-with-remote-access", strict=True),
)
