"""A map that other threads changed, used with no acquire fence by anybody.

Checks: copies through maps that other threads of the block made, on all paths of which nobody acquired the map since.
PX004 looks at a thread's own changes.
Why: copies read maps through a proxy of its own; a barrier alone does not reach it.
Source: PTX ISA 9.7.14.4 and 9.7.14.17.
Not checked: maps that other blocks or kernels changed.
"""

from __future__ import annotations

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..example import sm_90a
from ..rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.UNACQUIRED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD058",
    name="foreign-map-not-acquired",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.4",
    summary="A tensor map that other threads changed is used with no acquire of the tensormap proxy.",
    consequence="The copy may use the old map, or a mixture.",
    advice="Execute fence.proxy.tensormap::generic.acquire on the map behind the barrier, before the copy.",
    example=sm_90a("""
  (.param .u64 workspace, .param .u64 source) .reqntid 64
      .shared .align 1024 .b8 tile[8192];
      .shared .align 128 .b8 map[128];
      .shared .align 8 .b64 bar;

      ld.param.u64 %rd0, [workspace];
      ld.param.u64 %rd1, [source];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      mov.u32 %r1, 0;
      setp.ge.u32 %p2, %r0, 32;
      @%p2 bra SYNC;
      shl.b32 %r3, %r0, 2;
      mov.u32 %r2, map;
      add.u32 %r3, %r2, %r3;
      st.shared.u32 [%r3], %r1;
      bar.warp.sync -1;
      @%p0 bra COPY;
      mbarrier.init.shared::cta.b64 [bar], 1;
      tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], %rd1;
      tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 1;
      tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, 64;
      tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
      tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 0, 1024;
      tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 1, 1024;
      tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, 2048;
      tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 0, 1;
      tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 1, 1;
      tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 6;
      tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 3;
  COPY:
      bar.warp.sync -1;
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [map], 128;
  SYNC:
      bar.sync 0;
      setp.ne.u32 %p3, %r0, 32;
      @%p3 bra DONE;
+     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD058
          [tile], [%rd0, {%r1, %r1}], [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
