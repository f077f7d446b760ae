"""Ordinary accesses and later ones through the async proxy that barriers order, without a proxy fence of their own.

Checks: as PX020, where PTX asks for a fence and hardware has been seen to do without: ordinary reads before a bulk
copy overwrites the bytes, ordinary writes whose fence another thread executes, and `cp.async` before a matrix
instruction reads what it brought.
Why: barriers order threads; the two proxies are different paths to shared memory, and only a proxy fence orders them.
CUTLASS's and Triton's pipelines hand a slot back to TMA without one, and those of CUTLASS with `cp.async` have none
before `wgmma` and `tcgen05.mma`: the rule is pedantic.
Source: PTX ISA 8.7 (proxies), 9.7.14.4 (`fence.proxy`).
Not checked: see SM020.
"""

from __future__ import annotations

from .protocol_kernels import RING
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="PX021",
    name="proxy-fence-left-to-barriers",
    severity=Severity.WRONG_RESULT,
    pedantic=True,
    since="0.2",
    section="PTX ISA 8.7, 9.7.14.4",
    summary=(
        "No proxy fence of the accessing thread lies between an ordinary access and a later one through the async "
        "proxy."
    ),
    consequence="The order between the two is not guaranteed by PTX; released libraries rely on it.",
    advice=(
        "Let the accessing thread execute `fence.proxy.async` before the arrival or barrier that hands the bytes over."
    ),
    example=Example.variant(
        RING,
        """
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: PX021

      ld.shared.u32 %r13, [%r14];
+     fence.proxy.async.shared::cta;
""",
    ),
    check=of_flaws("missing-proxy-fence", "fenced-behind-barrier", "unfenced-copy", strict=True),
)
