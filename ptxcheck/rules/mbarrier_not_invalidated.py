"""An mbarrier whose bytes are used otherwise, or whose work is still under way, without or at its invalidation.

Checks: accesses of the bytes of an mbarrier that is no longer used but was not invalidated, and invalidations while
asynchronous work may still complete on it. MB028 and MB029 find both where the mbarrier is still in use.
Why: PTX ends the life of an mbarrier with `mbarrier.inval` only, when nothing is pending on it. Kernels that reuse the
memory of their pipeline for the epilogue do without: the rule is pedantic.
Not checked: accesses whose place cannot be followed.
"""

from __future__ import annotations

from .protocol_kernels import COPY
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="MB030",
    name="mbarrier-not-invalidated",
    severity=Severity.UNDEFINED,
    pedantic=True,
    since="0.2",
    section="PTX ISA 9.7.14.16.4, 9.7.14.16.10",
    summary="The bytes of an mbarrier are used otherwise, or it is invalidated, before its life has ended as PTX asks.",
    consequence="Undefined by PTX; released libraries rely on it where nothing uses the mbarrier any more.",
    advice="Wait for all phases, invalidate the mbarrier with `mbarrier.inval`, and use its bytes after that.",
    example=Example.variant(
        COPY,
        """
+ WAIT:
+     mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0;
+     @!%p0 bra WAIT;
      mbarrier.inval.shared::cta.b64 [%r1];  // expect: MB030
""",
    ),
    check=of_flaws("barrier-overwritten", "early-invalidation", strict=True),
)
