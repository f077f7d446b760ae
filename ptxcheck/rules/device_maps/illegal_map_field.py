"""A field of a tensor map replaced by a number that no map can have there.

Checks: each value of `tensormap.replace`, by range and residue: rank above 4, boxes outside 1 to 256, element strides
outside 1 to 8, sizes of 0, addresses and strides that are no multiple of 16, a stride beyond the fourth. Entries
behind the first dimension count where a copy with so many coordinates uses the map.
Why: the limits are those of the host's encode, which refuses such maps; nobody refuses them here.
Source: PTX ISA 9.7.9.27; cuda.h, cuTensorMapEncodeTiled.
Not checked: numbers that may be legal for some input.
"""

from __future__ import annotations

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..example import sm_90a
from ..rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.FIELD:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD050",
    name="illegal-map-field",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="A field of a tensor map is replaced by a number that no map can have there.",
    consequence="The copy that uses the map faults or moves the wrong bytes; ptxas does not look at the numbers.",
    advice=(
        "Keep boxes to 1 to 256, element strides to 1 to 8, sizes above 0, addresses and strides to multiples of 16; "
        "skip empty tensors."
    ),
    example=sm_90a("""
  (.param .u64 workspace, .param .u64 source) .reqntid 32
-     .shared .align 1024 .b8 tile[65536];
+     .shared .align 1024 .b8 tile[32768];
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
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 512; // expect: TD050
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 256;
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
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 65536;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768;
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
