"""An element type in the numbering of the driver.

Checks: element types 8, 9 and 10 of maps that the kernel makes, where the map is legal only if the number is the
driver's.
Why: the two numberings differ in these three.
Source: PTX ISA 9.7.9.27; cuda.h, CUtensorMapDataType.
Not checked: maps that are legal with both types.
"""

from __future__ import annotations

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..example import sm_90a
from ..rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.TYPE_NUMBER:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD054",
    name="driver-element-type",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="The element type of a map is replaced by its number in cuda.h, which PTX gives to another type.",
    consequence="The hardware counts in elements of another size.",
    advice="Use the numbers of PTX: 8 f32.ftz, 9 f64, 10 bf16. In cuda.h 8 is FLOAT64, 9 BFLOAT16 and 10 FLOAT32_FTZ.",
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
-     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 9; // expect: TD054
+     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 10;
      tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 3;
  COPY:
      bar.warp.sync -1;
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [map], 128;
      fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
      @%p0 bra DONE;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
          [tile], [%rd0, {%r1, %r1}], [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
