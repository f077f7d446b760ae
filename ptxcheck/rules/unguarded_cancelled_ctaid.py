"""The first CTA of a launch cancellation, read without a test that the cancellation succeeded.

Checks: `clusterlaunchcontrol.query_cancel.get_first_ctaid` in a kernel where no branch or guard over it depends on
`is_canceled`; possible where only the query, and numbers computed from it, come in front of the test, and what they say
takes effect behind it.
Why: a failed request leaves no CTA; the kernel would work on a tile that is not its own, for ever. Source: PTX ISA
9.7.14.19: the behaviour of get_first_ctaid is undefined when the request failed.
Not checked: answers that pass through memory or functions.
"""

from ..protocols.typestate.cancellation import untested
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_100a


def check(view: KernelView) -> Hits:
    for point, is_used in untested(view):
        confidence = Confidence.PROVED if is_used else Confidence.POSSIBLE
        yield Hit(point, "no test of is_canceled decides whether this runs", confidence=confidence)


RULE = Rule(
    id="CL008",
    name="unguarded-cancelled-ctaid",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.19",
    summary="The CTA of a cancelled launch is read although the cancellation may have failed.",
    consequence="The coordinates are undefined: the kernel works on a wrong tile, or never stops.",
    advice="Guard the query with the predicate of clusterlaunchcontrol.query_cancel.is_canceled.",
    example=sm_100a("""
  (.param .u64 out) .reqntid 1
      .reg .b128 %q<2>;
      .shared .align 16 .b8 response[16];
      .shared .align 8 .b64 bar;
      mov.u32 %r1, response;
      mov.u32 %r2, bar;
      mbarrier.init.shared::cta.b64 [%r2], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
      clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];
  $wait:
      mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r2], 0;
      @!%p1 bra $wait;
      ld.shared.b128 %q1, [%r1];
-     clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q1; // expect: CL008
+     clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;
+     @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q1;
      ret;
"""),
    check=check,
)
