"""An address of generic space where an offset of shared memory is wanted.

Checks: addresses in registers of instructions that name `.shared`, which come from a shared variable by `cvta.shared`;
also of mbarrier operations, copies, `mapa.shared::cluster` and `cvta.shared`.
Why: a generic address lies in the window of shared memory, and an instruction that names the space wants the offset in
it. GPUs that cut the address to 32 bits let it pass. Source: PTX ISA §5.1.7, 6.4.1.1 (generic addressing), 9.7.9.20
(`cvta`).
Not checked: the low 32 bits of a generic address, which GPUs make the offset; addresses that come from memory.
"""

from ..protocols.typestate.address_kinds import AddressKind, misused
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for each in view.get(misused):
        if each.kind is AddressKind.GENERIC:
            yield Hit(
                each.point,
                f"'{each.name}' stands here for its generic address, which is no offset in shared memory",
            )


RULE = Rule(
    id="SM027",
    name="generic-address-as-shared",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA §5.1.7, 9.7.9.20",
    summary="A generic address is used where `.shared` wants an offset.",
    consequence="The address is none of shared memory: the access faults, or is one of other bytes.",
    advice="Leave `.shared` out, or take the address with mov or cvta.to.shared.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 16 .b8 tile[512];
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      mov.u64 %rd1, tile;
-     cvta.shared.u64 %rd1, %rd1;
      mul.wide.u32 %rd2, %r0, 4;
      add.u64 %rd1, %rd1, %rd2;
      st.shared.u32 [%rd1], %r0; // expect: SM027
      bar.sync 0;
      ld.shared.u32 %r1, [tile];
      st.global.u32 [%rd0], %r1;
      ret;
"""),
    check=check,
)
