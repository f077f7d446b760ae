"""Expected or completed bytes beyond what an mbarrier can count.

Checks: the byte count of expect and complete operations, followed through registers.
Why: the transaction count of a phase is at most 2^20-1; what exceeds it is undefined.
Not checked: the sum of several operations in one phase.
"""

from ..protocols.typestate.barriers import find_barriers
from ..protocols.typestate.ranges import outside
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a

_MOST = (1 << 20) - 1


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).uses:
        count = outside(view, use.point, "tx_count", 0, _MOST)
        if count is not None:
            message = f"the byte count is {count}; one phase of an mbarrier counts at most {_MOST}"
            yield Hit(use.point, message)


RULE = Rule(
    id="MB008",
    name="expect-tx-out-of-range",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.16.3",
    summary="The bytes that an operation expects or completes exceed 1048575.",
    consequence="The count overflows: the phase completes too early or never.",
    advice="Split the transfer over several phases or barriers so that each phase counts less than 1 MiB.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
  READY:
      bar.sync 0;
-     mov.u32 %r1, 1048576;
+     mov.u32 %r1, 1048560;
      @!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [bar], %r1;  // expect: MB008
      ret;
"""),
    check=check,
    approximates=(Property.TX_BALANCE,),
)
