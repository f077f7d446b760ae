"""An arrival with expected bytes that more threads execute than the mbarrier has arrivals.

Checks: arrivals that expect bytes, on an object with a constant address whose initial count is a constant below the
number of threads that surely execute the arrival together.
Why: every thread adds its bytes and arrives once; the phase gets more arrivals than it expects, and more bytes than
the one copy brings. Source: PTX ISA §9.7.14.16.8 and .16.
Not checked: separate expect operations, which may be meant to add up.
"""

from ..isa.modifier import Mod
from ..protocols.typestate.barriers import Role, find_barriers, initial_count
from ..protocols.typestate.crowd import crowd
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).having(Role.ARRIVE):
        instruction = view.body.instructions[use.point]
        if not use.is_local or not instruction.operation.has(Mod.EXPECT_TX):
            continue
        expected = initial_count(view, use)
        if expected is None or not view.facts.value(use.point, instruction["tx_count"]).low:
            continue
        threads = crowd(view, use.point)
        if threads > expected:
            number = f"{threads} threads" if view.launch.threads is not None else "all threads"
            yield Hit(use.point, f"{number} arrive on {use.place}, which expects {expected} a phase")


RULE = Rule(
    id="MB015",
    name="expect-tx-by-many-threads",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.16.16",
    summary="More threads arrive with expected bytes than the mbarrier was initialised for.",
    consequence="The phase waits for bytes that never come, or the surplus arrivals complete later phases: a hang.",
    advice="Let one thread arrive with the sum of the bytes, or initialise with the number of arriving threads.",
    example=sm_90a("""
  (.param .u64 source) .reqntid 128
      .shared .align 8 .b64 bar;
      .shared .align 128 .b8 tile[1024];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
  READY:
      bar.sync 0;
      ld.param.u64 %rd1, [source];
-     mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [bar], 1024;  // expect: MB015
+     @!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [bar], 1024;
      @!%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 1024, [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
      ret;
"""),
    check=check,
    approximates=(Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY),
)
