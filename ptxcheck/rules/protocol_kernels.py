"""Kernels that rules about whole kernels share: a ring of two stages that one warp fills and another empties."""

from __future__ import annotations

from .example import sm_90a

RING = sm_90a("""
  (.param .u64 in, .param .u32 tiles) .reqntid 64
      .shared .align 128 .b8 data[2048];
      .shared .align 8 .b64 full[2];
      .shared .align 8 .b64 empty[2];
      ld.param.u64 %rd0, [in];
      cvta.to.global.u64 %rd0, %rd0;
      ld.param.u32 %r1, [tiles];
      mov.u32 %r0, %tid.x;
      mov.u32 %r2, full;
      mov.u32 %r3, empty;
      mov.u32 %r4, data;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [full], 1;
      mbarrier.init.shared::cta.b64 [full+8], 1;
      mbarrier.init.shared::cta.b64 [empty], 32;
      mbarrier.init.shared::cta.b64 [empty+8], 32;
      fence.mbarrier_init.release.cluster;
  READY:
      bar.sync 0;
      mov.u32 %r5, 0;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 bra DONE;
      setp.ge.u32 %p2, %r0, 32;
      @%p2 bra CONSUME;
      @%p0 bra DONE;
  PRODUCE:
      and.b32 %r6, %r5, 1;
      shl.b32 %r7, %r6, 3;
      add.u32 %r8, %r2, %r7;
      add.u32 %r9, %r3, %r7;
      shl.b32 %r10, %r6, 10;
      add.u32 %r10, %r4, %r10;
      shr.u32 %r11, %r5, 1;
      and.b32 %r11, %r11, 1;
      xor.b32 %r12, %r11, 1;
  WAIT_EMPTY:
      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;
      @!%p3 bra WAIT_EMPTY;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];
      add.u32 %r5, %r5, 1;
      setp.lt.u32 %p4, %r5, %r1;
      @%p4 bra PRODUCE;
      bra DONE;
  CONSUME:
      and.b32 %r6, %r5, 1;
      shl.b32 %r7, %r6, 3;
      add.u32 %r8, %r2, %r7;
      add.u32 %r9, %r3, %r7;
      shl.b32 %r14, %r6, 10;
      add.u32 %r14, %r4, %r14;
      shr.u32 %r11, %r5, 1;
      and.b32 %r11, %r11, 1;
  WAIT_FULL:
      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;
      @!%p3 bra WAIT_FULL;
      ld.shared.u32 %r13, [%r14];
      mbarrier.arrive.shared::cta.b64 _, [%r9];
      add.u32 %r5, %r5, 1;
      setp.lt.u32 %p4, %r5, %r1;
      @%p4 bra CONSUME;
  DONE:
      ret;
""").base

TWO_PHASES = sm_90a("""
  () .reqntid 64
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @!%p0 mbarrier.init.shared::cta.b64 [bar], 2;
      bar.sync 0;
      and.b32 %r1, %r0, 31;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra DONE;
      mbarrier.arrive.shared::cta.b64 _, [bar];
      @%p0 bra OTHER;
  FIRST:
      mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
      @!%p2 bra FIRST;
      mbarrier.arrive.shared::cta.b64 _, [bar];
  SECOND:
      mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
      @!%p2 bra SECOND;
      bra DONE;
  OTHER:
      mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
      @!%p2 bra OTHER;
      mbarrier.arrive.shared::cta.b64 _, [bar];
  LAST:
      mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 1;
      @!%p3 bra LAST;
  DONE:
      bar.sync 0;
      @!%p0 mbarrier.inval.shared::cta.b64 [bar];
      ret;
""").base
"""Two threads that meet twice at one mbarrier."""


STORE = sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];
      ld.param.u64 %rd0, [out];
      cvta.to.global.u64 %rd0, %rd0;
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, tile;
      shl.b32 %r2, %r0, 2;
      add.u32 %r2, %r1, %r2;
      st.shared.u32 [%r2], %r0;
      fence.proxy.async.shared::cta;
      bar.sync 1, 128;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 512;
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
  DONE:
      ret;
""").base
"""A tile that all threads write and one of them stores with a bulk copy."""

COPY = sm_90a("""
  (.param .u64 in) .reqntid 1
      .shared .align 128 .b8 data[1024];
      .shared .align 8 .b64 full;
      ld.param.u64 %rd0, [in];
      cvta.to.global.u64 %rd0, %rd0;
      mov.u32 %r0, data;
      mov.u32 %r1, full;
      mbarrier.init.shared::cta.b64 [%r1], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 1024, [%r1];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0;
      @!%p0 bra WAIT;
      mbarrier.inval.shared::cta.b64 [%r1];
      ret;
""").base
"""A copy by a single thread, which waits for it and ends the life of the mbarrier."""

PAIR = sm_90a("""
  () .reqntid 64 .explicitcluster .reqnctapercluster 2, 1, 1
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, %cluster_ctarank;
      xor.b32 %r2, %r1, 1;
      mov.u32 %r3, bar;
      setp.ne.u32 %p0, %r0, 0;
      @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;
      @!%p0 fence.mbarrier_init.release.cluster;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      mapa.shared::cluster.u32 %r4, %r3, %r2;
      @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
      setp.ge.u32 %p1, %r0, 32;
      @%p1 bra LAST;
  WAIT:
      mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
      @!%p2 bra WAIT;
  LAST:
      barrier.cluster.arrive.release.aligned;
      barrier.cluster.wait.acquire.aligned;
      ret;
""").base
"""Two CTAs that signal each other, and stay until both are done."""

COUNTED = sm_90a("""
  () .reqntid 96

      mov.u32 %r0, %tid.x;
      setp.ge.u32 %p0, %r0, 64;
      @%p0 bra DONE;
      setp.ge.u32 %p1, %r0, 32;
      @%p1 bra SECOND;
      barrier.sync 1, 64;
      barrier.sync 2, 64;
      bra DONE;
  SECOND:
      barrier.sync 1, 64;  // one
      barrier.sync 2, 64;  // two
  DONE:
      ret;
""").base
"""Two warps that meet at two named barriers."""


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with lines replaced; each must be there exactly once."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
