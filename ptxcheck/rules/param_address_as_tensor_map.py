"""A tensor map given as the parameter-space address of a kernel parameter.

Checks: tensor-map operands whose register was moved from a parameter's name with no `cvta.param` since.
Why: the operand is a generic address. `mov` of a parameter's name gives its offset in parameter space; ptxas accepts
it. Source: PTX ISA §9.7.9.26.5.2 (tensorMap is a generic address), 9.7.9.19 (cvta.param).
Not checked: addresses that pass through memory or selections.
"""

from ..protocols.typestate.tensor_map import raw_parameters
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for point, name, moved in raw_parameters(view):
        message = f"the tensor map is the parameter-space address of '{name}'"
        yield Hit(point, message, related=((moved, "taken here, never converted"),))


RULE = Rule(
    id="PT008",
    name="param-address-as-tensor-map",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.5.2",
    summary="The tensor-map operand is an address in parameter space, not a generic one.",
    consequence="The copy reads its tensor map from a wrong place: a fault.",
    advice="Convert the address first: cvta.param.u64.",
    example=sm_90a("""
  (.param .align 64 .b8 map[128]) .reqntid 1
      .shared .align 128 .b8 data[128];
      .shared .align 8 .b64 bar;
      mov.b64 %rd1, map;
+     cvta.param.u64 %rd2, %rd1;
      mov.u32 %r1, data;
      mov.u32 %r2, bar;
      mbarrier.init.shared::cta.b64 [%r2], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
      mov.b32 %r3, 0;
      cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: PT008
-         [%r1], [%rd1, {%r3}], [%r2];
+         [%r1], [%rd2, {%r3}], [%r2];
  $wait:
      mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r2], 0;
      @!%p1 bra $wait;
      ret;
"""),
    check=check,
)
