"""An `arrive` whose own threads are as many as the barrier's count, or more.

Checks: exactly known sets of threads that execute an `arrive` together, against its count.
Why: the count is that of both sides, those that arrive and those that wait. When the arriving threads alone make it
up, the barrier completes without the waiting side, which then waits for nobody (facebookexperimental/ triton
687fa1072: 128 for two groups of 128) or hangs (Dao-AILab/quack #146).
Not checked: blocks of unknown size; barriers on which nothing waits; numbers that differ between threads.
"""

from ..opcodes.op import Op
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    barriers = view.get(NamedBarriers)
    awaited = {site.number for site in barriers.sites if site.op is not Op.BAR_ARRIVE} - {None}
    for site in barriers.sites:
        threads, count = barriers.exact_threads(site), barriers.count_of(site)
        if site.op is not Op.BAR_ARRIVE or threads is None or not count or site.number not in awaited:
            continue
        arriving = 32 * len(threads.warps)
        if arriving >= count:
            message = f"threads {threads} arrive, {arriving} with whole warps: all of the count {count}"
            yield Hit(site.point, message)


RULE = Rule(
    id="NB012",
    name="barrier-count-met-by-arrivals",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.14.1",
    summary="The threads that arrive make up the barrier's whole count; there is no room for one that waits.",
    consequence="The waiting threads are not ordered behind the arrivals: a race, or a hang.",
    advice="Count both sides: threads that arrive plus threads that wait.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 256
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 128;
      @%p1 bra $consumer;
-     bar.arrive 9, 128; // expect: NB012
+     bar.arrive 9, 256;
      bra.uni $done;
  $consumer:
-     bar.sync 9, 128;
+     bar.sync 9, 256;
  $done:
      bar.sync 0;
      ret;
"""),
    check=check,
    approximates=(Property.PHASE_SAFETY,),
)
