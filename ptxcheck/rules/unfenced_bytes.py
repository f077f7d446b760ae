"""Bytes that are written with ordinary stores and then touched through the async proxy, with no proxy fence between.

Checks: as SM020, for an ordinary write and a copy or matrix operation that is ordered after it: a proxy fence must lie
on the way. PX001 finds the same in the code of one thread; this rule follows the order through barriers and waits.
Why: the two go through different paths to shared memory; a barrier orders threads, not proxies.
Source: PTX ISA 8.7 (proxies), 9.7.14.4 (`fence.proxy`).
Not checked: see SM020.
"""

from __future__ import annotations

from .protocol_kernels import STORE
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="PX020",
    name="unfenced-bytes",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 8.7, 9.7.14.4",
    summary="No proxy fence lies between an ordinary write of shared memory and its use through the async proxy.",
    consequence="The copy or matrix operation may not see the write: wrong results, in some runs only.",
    advice="Let each writing thread execute `fence.proxy.async` after its writes, before the barrier or arrival.",
    example=Example.variant(
        STORE,
        """
+     fence.proxy.async.shared::cta;

      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 512;  // expect: PX020
""",
    ),
    check=of_flaws("missing-proxy-fence"),
)
