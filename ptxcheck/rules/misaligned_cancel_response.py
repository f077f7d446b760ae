"""A response of a launch cancellation that does not stand at a multiple of 16 bytes.

Checks: the response address of `clusterlaunchcontrol.try_cancel`, through registers.
Why: the response is one 16-byte write; ptxas does not check the address. Source: PTX ISA §9.7.14.18: 16-byte aligned.
Not checked: addresses that come from parameters or memory.
"""

from ..opcodes.op import Op
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_100a

RESPONSE_BYTES = 16


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op is not Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL or view.facts.never_runs(point):
            continue
        if view.facts.is_multiple(point, instruction.get("response"), RESPONSE_BYTES) is False:
            yield Hit(point, f"the response is not at a multiple of {RESPONSE_BYTES} bytes")


RULE = Rule(
    id="CL009",
    name="misaligned-cancel-response",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.18",
    summary="The address of the 16-byte response is not a multiple of 16.",
    consequence="The behaviour is undefined.",
    advice="Declare the response with .align 16 and use its first byte.",
    example=sm_100a("""
  (.param .u64 out) .reqntid 1
      .reg .b128 %q<2>;
-     .shared .align 16 .b8 response[32];
+     .shared .align 16 .b8 response[16];
      .shared .align 8 .b64 bar;
      mov.u32 %r1, response;
      mov.u32 %r2, bar;
      mbarrier.init.shared::cta.b64 [%r2], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
-     clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 // expect: CL009
-         [%r1+8], [%r2];
+     clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];
  $wait:
      mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r2], 0;
      @!%p1 bra $wait;
      ret;
"""),
    of_form=True,
    check=check,
)
