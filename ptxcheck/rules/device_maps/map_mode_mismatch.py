"""A copy in a mode that its tensor map is not for.

Checks: copies through maps that the kernel makes, or that are described with --tensor-map: tiled against im2col, and
the box of gather4 and scatter4.
Why: the map holds other fields in each mode; ptxas does not know the map.
Source: PTX ISA 5.5.3 to 5.5.6, 9.7.9.26.5.2.
Not checked: maps that are not known.
"""

from ...descriptors.agreement import Topic
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity, sm_100a


def check(view: KernelView) -> Hits:
    for one in view.get(DeviceMaps).contract.disagreements:
        if one.topic is Topic.MODE:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD061",
    name="map-mode-mismatch",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.5.2",
    summary="A copy reads its tensor map in a mode that the map is not for.",
    consequence="The copy faults or moves other bytes.",
    advice=(
        "Encode tiled maps for tile modes, im2col maps for im2col modes, and boxes of one row for gather4 and "
        "scatter4."
    ),
    example=sm_100a("""
  (.param .u64 workspace, .param .u64 source) .reqntid 32
-     .shared .align 1024 .b8 tile[32768];
+     .shared .align 1024 .b8 tile[8192];
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
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 1;
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
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes // expect: TD061
          [tile], [%rd0, {%r1, %r1, %r1, %r1, %r1}], [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
