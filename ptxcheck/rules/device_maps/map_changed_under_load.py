"""A change of a tensor map that a load may still read.

Checks: changes of maps in global memory behind a load with the same map, where nothing on the way could wait for it.
Why: the map must not change while a copy that uses it is outstanding. Stores are looked at by BG012.
Not checked: whether a wait on the way is for the right barrier and phase.
"""

from __future__ import annotations

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..example import sm_90a
from ..rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.REUSED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD057",
    name="map-changed-under-load",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.1",
    summary="A tensor map is changed while a load that reads it is under way.",
    consequence="The load may read the new map, or a mixture.",
    advice="Wait on the mbarrier of the load before changing its map.",
    example=sm_90a("""
  (.param .u64 workspace, .param .u64 source) .reqntid 32
      .shared .align 1024 .b8 tile[8192];
      .shared .align 128 .b8 map[128];
      .shared .align 8 .b64 bar;

      ld.param.u64 %rd0, [workspace];
      ld.param.u64 %rd1, [source];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      mov.u32 %r1, 0;
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
      fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
      @%p0 bra DONE;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
          [tile], [%rd0, {%r1, %r1}], [bar];
+ WAIT0:
+     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
+     @!%p1 bra WAIT0;
      tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd0; // expect: TD057
      fence.proxy.tensormap::generic.release.gpu;
- WAIT:
-     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
-     @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
