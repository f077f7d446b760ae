"""A box in shared memory off the pattern of its swizzle.

Checks: copies of a repeat of the pattern or more, through maps that the kernel makes or that are described with
--tensor-map, to addresses that are no multiple of the repeat.
Why: the swizzle goes by bits of the address in shared memory, so the pattern starts at multiples of 256, 512 or 1024
bytes, not at the box.
Source: PTX ISA 5.5.7; CUDA programming guide, shared memory swizzle.
Not checked: boxes smaller than the pattern, which fill a part of a larger tile.
"""

from __future__ import annotations

from ...descriptors.agreement import Topic
from ...descriptors.device.flow import DeviceMaps
from ..example import sm_90a
from ..rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for one in view.get(DeviceMaps).contract.disagreements:
        if one.topic is Topic.PLACE:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD062",
    name="box-off-swizzle-pattern",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 5.5.7",
    summary="The box of a swizzled map does not start where the pattern of the swizzle does.",
    consequence="Readers that take the pattern to start with the tile read other bytes.",
    advice="Align the tile to 256, 512 or 1024 bytes for a swizzle of 32, 64 or 128 bytes.",
    example=sm_90a("""
  (.param .u64 workspace, .param .u64 source) .reqntid 32
      .shared .align 1024 .b8 tile[9216];
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
      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD062
-         [tile + 512], [%rd0, {%r1, %r1}], [bar];
+         [tile + 1024], [%rd0, {%r1, %r1}], [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
