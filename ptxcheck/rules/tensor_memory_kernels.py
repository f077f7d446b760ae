"""Kernels for the rules about tensor memory: one warp allocates, and frees in the end."""

from .example import sm_100a

ALLOCATION = sm_100a("""
  (.param .u32 n) .reqntid 128
      .shared .align 4 .b32 slot;
      .shared .align 8 .b64 bar;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.eq.u32 %p1, %r2, 0;
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      bar.sync 0;
      ld.shared.b32 %r3, [slot];
      bar.sync 0;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
      ret;
""").base
"""Warp 0 allocates tensor memory and frees it."""

LOADED = sm_100a("""
  (.param .u32 n) .reqntid 128
      .shared .align 4 .b32 slot;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.eq.u32 %p1, %r2, 0;
      ld.param.u32 %r9, [n];
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;
      bar.sync 0;
      ld.shared.b32 %r3, [slot];
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
      tcgen05.wait::ld.sync.aligned;
      bar.sync 0;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
      ret;
""").base
"""All warps load what is allocated. `%p1` is warp 0."""

MULTIPLIED = sm_100a("""
  (.param .u32 n) .reqntid 128
      .shared .align 1024 .b8 tile[16384];
      .shared .align 8 .b64 done;
      .shared .align 4 .b32 slot;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.eq.u32 %p1, %r2, 0;
      setp.eq.u32 %p2, %r1, 0;
      setp.ne.u32 %p3, %r1, %r1;
      mov.b32 %r8, 0x8100490;
      mov.b64 %rd1, 0x4000404000010040;
      @%p2 mbarrier.init.shared::cta.b64 [done], 1;
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;
      bar.sync 0;
      ld.shared.b32 %r3, [slot];
      @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd1, %r8, %p3;
      @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
  $wait:
      mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
      @!%p4 bra $wait;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
      tcgen05.wait::ld.sync.aligned;
      bar.sync 0;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128;
      ret;
""").base
"""Thread 0, which is `%p2`, multiplies; all wait for it and load the result."""

PAIR = sm_100a("""
  (.param .u32 n) .reqntid 128 .reqnctapercluster 2, 1, 1
      .shared .align 4 .b32 slot;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.eq.u32 %p1, %r2, 0;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      @%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ld.shared.b32 %r3, [slot];
      @%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 128;
      ret;
""").base
"""A pair of CTAs allocates together and frees together."""
