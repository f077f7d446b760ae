"""A tensor map that a thread changes and uses without the fences between.

Checks: `tensormap.replace` and `tensormap.cp_fenceproxy` on a map in global memory, and a tensor copy with the same
map on a path with no acquire, or no release, of the tensormap proxy.
Why: copies read the map through a proxy of its own; the writer releases, and the user acquires, the same thread too.
Source: PTX ISA §9.7.14.4 and 9.7.14.17.
Not checked: maps that other threads change; addresses that are not surely the same.
"""

from ..protocols.typestate.tensor_map_updates import unfenced_updates
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for update in unfenced_updates(view):
        message = f"this map was changed with no fence.proxy.tensormap::generic.{update.missing.value} since"
        yield Hit(update.use, message, related=((update.change, "the change"),))


RULE = Rule(
    id="PX004",
    name="unfenced-tensormap",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.4",
    summary="A changed tensor map is used without release and acquire fences of its proxy.",
    consequence="The copy may use the old map, or a mixture.",
    advice=(
        "Release with fence.proxy.tensormap::generic.release or tensormap.cp_fenceproxy, then acquire before the copy."
    ),
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      add.u64 %rd1, %rd0, 256;
      mov.u32 %r2, 0;
      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd1;
      fence.proxy.tensormap::generic.release.gpu;
+     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: PX004
          [tile], [%rd0, {%r2, %r2}], [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
