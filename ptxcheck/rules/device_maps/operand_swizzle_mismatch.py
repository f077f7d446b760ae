"""A matrix descriptor with another swizzle than the tensor map of its tile.

Checks: descriptors of wgmma and tcgen05 whose start and swizzle are known, against the maps of the copies that fill
the tile: maps that the kernel makes or that are described with --tensor-map.
Why: the same swizzle has another number in a map, in a descriptor of wgmma and in one of tcgen05.
Source: PTX ISA 5.5.7, 9.7.16.5.1, 9.7.17.4.1.
Not checked: tiles that other instructions write too.
"""

from ...descriptors.agreement import Topic
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for one in view.get(DeviceMaps).contract.disagreements:
        if one.topic is Topic.SWIZZLE:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD065",
    name="operand-swizzle-mismatch",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.16.5.1",
    summary="A matrix instruction reads a tile with another swizzle than the tensor map wrote it with.",
    consequence="The product is of other numbers.",
    advice=(
        "Give map and matrix descriptor the same swizzle; wgmma numbers them 1 for 128, 2 for 64 and 3 for 32 bytes."
    ),
    example=sm_90a("""
  (.param .u64 workspace, .param .u64 source) .reqntid 128
      .reg .f32 %f<4>;
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
      fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
      @%p0 bra SYNC;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
          [tile], [%rd0, {%r1, %r1}], [bar];
  SYNC:
      bar.sync 0;
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
      mov.u32 %r4, tile;
      and.b32 %r4, %r4, 0x3FFFF;
      shr.u32 %r4, %r4, 4;
      cvt.u64.u32 %rd4, %r4;
-     or.b64 %rd4, %rd4, 0xc000001000010000;
+     or.b64 %rd4, %rd4, 0x4000004000010000;
      mov.f32 %f0, 0f00000000;
      mov.f32 %f1, %f0;
      mov.f32 %f2, %f0;
      mov.f32 %f3, %f0;
      wgmma.fence.sync.aligned;
-     // expect: TD065
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd4, %rd4, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
      wgmma.wait_group.sync.aligned 0;
      st.global.v4.f32 [%rd1], {%f0, %f1, %f2, %f3};
      ret;
"""),
    check=check,
)
