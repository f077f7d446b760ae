"""Arrivals at a named barrier that no thread of the kernel ever waits for.

Checks: `arrive` on a barrier number that no `sync` or `red` of the kernel uses, when all numbers are known and no call
can synchronise.
Why: the wait that these arrivals were meant for uses another number, and hangs or does not wait for them; or it is
gone and the arrivals are left over, as in a CUTLASS 4 example (77, MLA), where they do no harm. The rule is pedantic
because the two look alike. Source: PTX ISA §9.7.14.1: arrive does not wait, sync does.
Not checked: device functions; kernels with numbers that are not constant.
"""

from ..opcodes.op import Op
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    barriers = view.get(NamedBarriers)
    arrivals = [site for site in barriers.sites if site.op is Op.BAR_ARRIVE]
    if not arrivals or not view.function.is_entry or not barriers.complete:
        return
    awaited = {site.number for site in barriers.sites if site.op is not Op.BAR_ARRIVE}
    for site in arrivals:
        if site.number not in awaited:
            yield Hit(site.point, f"nothing in this kernel waits on barrier {site.number}")


RULE = Rule(
    id="NB007",
    name="arrivals-without-sync",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.14.1",
    summary="Threads arrive at a barrier on which nothing in the kernel waits.",
    consequence="The arrivals order nothing; the wait they belong to hangs or runs ahead.",
    advice="Wait (bar.sync) on the same number, or drop the arrival.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 64;
      @%p1 bra $consumer;
      bar.arrive 2, 128; // expect: NB007
      bra.uni $done;
  $consumer:
-     bar.sync 3, 64;
+     bar.sync 2, 128;
  $done:
      bar.sync 0;
      ret;
"""),
    check=check,
    pedantic=True,
)
