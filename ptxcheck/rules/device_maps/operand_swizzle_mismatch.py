"""A matrix descriptor with another swizzle than the tensor map of its tile.

Checks: descriptors of wgmma and tcgen05 whose start and swizzle are known, against the maps of the copies that fill
the tile: maps that the kernel makes or that are described with --tensor-map.
Why: the same swizzle has another number in a map, in a descriptor of wgmma and in one of tcgen05. Source: PTX ISA
5.5.7, 9.7.16.5.1, 9.7.17.4.1.
Not checked: tiles that other instructions write too.
"""

from ...descriptors.agreement import Topic
from ...descriptors.contract import Contract
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for one in view.get(Contract).disagreements:
        if one.topic is Topic.SWIZZLE:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD065",
    name="operand-swizzle-mismatch",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.16.5.1",
    summary="A matrix instruction reads a tile with another swizzle than the tensor map wrote it with.",
    consequence="The product is of other numbers.",
    advice=(
        "Give map and matrix descriptor the same swizzle; wgmma numbers them 1 for 128, 2 for 64 and 3 for 32 bytes."
    ),
    example=KERNEL.variant("""
= .visible .entry kernel(.param .u64 workspace, .param .u64 source) .reqntid 32
  .visible .entry kernel(.param .u64 workspace, .param .u64 source) .reqntid 128

=     .reg .b64 %rd<16>;
      .reg .b64 %rd<16>;
      .reg .f32 %f<4>;

=     mov.u32 %r1, 0;
      mov.u32 %r1, 0;
      setp.ge.u32 %p2, %r0, 32;
      @%p2 bra SYNC;

=     @%p0 bra DONE;
      @%p0 bra SYNC;

=         [tile], [%rd0, {%r1, %r1}], [bar];
          [tile], [%rd0, {%r1, %r1}], [bar];
  SYNC:
      bar.sync 0;

= DONE:
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
"""),
    check=check,
)
