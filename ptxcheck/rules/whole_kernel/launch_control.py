"""Rules about requests to cancel launches, in runs of the whole kernel."""

from ...protocols.model.outcome import Flaw
from ..rule import Rule, Severity, sm_100a
from ..violations import of_flaws

RULES = (
    # Checks: whether each `clusterlaunchcontrol.try_cancel` comes before every read, by its CTA, of an answer of which
    # the run does not show that it says yes.
    # Why: a grid has no more CTAs to give once it has said so. Source: PTX ISA §9.7.14.18 (undefined once the CTA has
    # observed that a request failed).
    # Not checked: answers that threads hand on; see MB020.
    Rule(
        id="CL022",
        name="request-after-refused-cancellation",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.18",
        summary="A launch is to be cancelled although an earlier answer said, or may have said, that there is none.",
        consequence="Undefined: the answer may name a CTA that runs already, or never come.",
        advice="Ask is_canceled of each answer, and ask for no other launch once it is false.",
        example=sm_100a("""
  () .reqntid 32
      .reg .b128 %q<2>;
      .shared .align 16 .b8 response[16];
      .shared .align 8 .b64 bar;
      mov.u32 %r1, %tid.x;
      setp.ne.u32 %p0, %r1, 0;
      @%p0 bra DONE;
      mov.u32 %r2, 0;
      mov.u32 %r3, 0;
      mbarrier.init.shared::cta.b64 [bar], 1;
  ROUND:
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
      clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [response], [bar]; // expect: CL022
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r2;
      @!%p1 bra WAIT;
      ld.shared.b128 %q1, [response];
      fence.proxy.async.shared::cta;
      xor.b32 %r2, %r2, 1;
-     add.u32 %r3, %r3, 1;
-     setp.lt.u32 %p2, %r3, 4;
+     clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;
      @%p2 bra ROUND;
  DONE:
      ret;
"""),
        check=of_flaws(Flaw.ASKED_AFTER_REFUSAL),
    ),
)
