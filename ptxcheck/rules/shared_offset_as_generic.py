"""An offset of shared memory where an address of generic space is wanted.

Checks: addresses in registers of instructions that name no state space, which come from a shared variable by no
`cvta.shared`; also of mbarrier operations, `mapa` and `cvta.to.shared`.
Why: `mov` of a variable gives its address in its own space. In generic space that number is no shared memory: the
window of shared memory lies elsewhere. Source: PTX ISA §5.1.7 (without a state space the address is generic), §9.7.9.20
(`cvta`).
Not checked: addresses that come from memory, or that are converted on some paths only.
"""

from ..protocols.typestate.address_kinds import AddressKind, misused
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for each in view.get(misused):
        if each.kind is AddressKind.OFFSET:
            yield Hit(
                each.point,
                f"'{each.name}' stands here for its offset in shared memory, which is no generic address",
            )


RULE = Rule(
    id="SM026",
    name="shared-offset-as-generic",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA §5.1.7, 9.7.9.20",
    summary="An offset of shared memory is used as an address of generic space.",
    consequence="The access faults, or is one of global memory.",
    advice="Name the space (ld.shared, mbarrier.init.shared::cta), or convert the address with cvta.shared.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 16 .b8 tile[512];
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      mov.u64 %rd1, tile;
+     cvta.shared.u64 %rd1, %rd1;
      mul.wide.u32 %rd2, %r0, 4;
      add.u64 %rd1, %rd1, %rd2;
      st.u32 [%rd1], %r0; // expect: SM026
      bar.sync 0;
      ld.shared.u32 %r1, [tile];
      st.global.u32 [%rd0], %r1;
      ret;
"""),
    check=check,
)
