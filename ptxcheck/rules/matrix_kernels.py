"""Kernels around one line that builds a matrix descriptor, for the rules about descriptors.

The tiles are bf16 or f16, K-major, rows of 128 bytes with the 128-byte swizzle: groups of 8 rows 1024 bytes apart.
"""

from __future__ import annotations

from .example import sm_90a

_HOPPER = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(.param .u64 out)
{directives}
{{
    .reg .pred %p<4>;
    .reg .f32 %f<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 1024 .b8 a_tile[8192];
    .shared .align 1024 .b8 b_tile[1024];

    ld.param.u64 %rd1, [out];
    mov.u32 %r1, a_tile;
    mov.u32 %r2, b_tile;
    bfe.u32 %r3, %r2, 4, 14;
    cvt.u64.u32 %rd5, %r3;
    or.b64 %rd3, %rd5, 0x4000004000010000;
{build}
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, %f1;
    mov.f32 %f3, %f1;
    mov.f32 %f4, %f1;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f1, %f2, %f3, %f4}}, %rd2, %rd3, 0, 1, 1, 0, 0;{mark}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    st.global.v4.f32 [%rd1], {{%f1, %f2, %f3, %f4}};
    ret;
}}
"""

_BLACKWELL = """
.version 8.6
.target sm_100a
.address_size 64

.visible .entry kernel(.param .u64 out)
.reqntid 128
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 1024 .b8 a_tile[16384];
    .shared .align 1024 .b8 b_tile[8192];
    .shared .align 8 .b64 done;
    .shared .align 4 .b32 slot;

    ld.param.u64 %rd1, [out];
    mov.u32 %r1, a_tile;
    mov.u32 %r2, b_tile;
    mov.u32 %r9, %tid.x;
    shr.u32 %r10, %r9, 5;
    setp.eq.u32 %p1, %r10, 0;
    setp.eq.u32 %p2, %r9, 0;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    @%p2 mbarrier.init.shared::cta.b64 [done], 1;
    bar.sync 0;
    ld.shared.b32 %r4, [slot];
    bfe.u32 %r3, %r2, 4, 14;
    cvt.u64.u32 %rd5, %r3;
    or.b64 %rd3, %rd5, 0x4000404000010000;
    mov.b32 %r5, {instruction};
{build}
    setp.ne.u32 %p3, %r9, %r9;
    @!%p2 bra $wait;
    tcgen05.mma.cta_group::1.kind::{kind} [%r4], %rd2, %rd3, %r5, %p3;{mark}
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
$wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
    @!%p4 bra $wait;
    shl.b32 %r6, %r10, 21;
    add.s32 %r6, %r6, %r4;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r7}}, [%r6];
    tcgen05.wait::ld.sync.aligned;
    st.global.b32 [%rd1], %r7;
    bar.sync 0;
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;
    ret;
}}
"""

BLACKWELL_WORD = 0x8100490
"""f32 += bf16 x bf16, K-major, M 128, N 64."""


def hopper(build: str, expect: str = "", directives: str = ".reqntid 128") -> str:
    """Return a kernel whose multiplication reads A through `%rd2`, which `build` computes from `%r1`."""
    return _HOPPER.format(build=_indented(build), mark=_mark(expect), directives=directives)


def blackwell(build: str, expect: str = "", instruction: int = BLACKWELL_WORD, kind: str = "f16") -> str:
    """Return a kernel whose multiplication reads A through `%rd2`, which `build` computes from `%r1`."""
    return _BLACKWELL.format(
        build=_indented(build), mark=_mark(expect), instruction=f"0x{instruction:x}", kind=kind
    )


def packed(constant: int, build: str = "bfe.u32 %r8, %r1, 4, 14;") -> str:
    """Return the lines that encode the address in `%r1` and combine it with the other fields."""
    return f"{build}\ncvt.u64.u32 %rd4, %r8;\nor.b64 %rd2, %rd4, 0x{constant:x};"


def _indented(build: str) -> str:
    return "\n".join(f"    {line}" for line in build.splitlines())


def _mark(expect: str) -> str:
    return f" // expect: {expect}" if expect else ""


HOPPER_A = 0x4000_0040_0001_0000
"""128-byte swizzle, groups of 8 rows 1024 bytes apart."""
BLACKWELL_A = 0x4000_4040_0001_0000

WGMMA = sm_90a("""
  (.param .u64 out, .param .u64 a, .param .u64 b) .reqntid 128
      .reg .f32 %f<8>;
      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd2, [a];
      ld.param.u64 %rd3, [b];
      mov.f32 %f1, 0f00000000;
      mov.f32 %f2, %f1;
      mov.f32 %f3, %f1;
      mov.f32 %f4, %f1;
      wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
      wgmma.wait_group.sync.aligned 0;
      st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
      ret;
""").base
"""One multiplication of a warpgroup."""
