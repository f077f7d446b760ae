"""A kernel that rules about the order of tensor memory share: two accumulators between a multiplier and an epilogue."""

from __future__ import annotations

from .example import sm_100a

ACCUMULATORS = sm_100a("""
  (.param .u64 in, .param .u64 out, .param .u32 tiles) .reqntid 256
      .shared .align 8 .b64 loaded;
      .shared .align 8 .b64 full[2];
      .shared .align 8 .b64 empty[2];
      .shared .align 4 .b32 slot;
      .shared .align 1024 .b8 data[18432];
      ld.param.u64 %rd0, [in];
      ld.param.u64 %rd1, [out];
      ld.param.u32 %r1, [tiles];
      mov.u32 %r0, %tid.x;
      shr.u32 %r2, %r0, 5;
      mov.u32 %r3, full;
      mov.u32 %r4, empty;
      setp.ne.u32 %p0, %r0, 0;
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra READY;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [loaded], 1;
      mbarrier.init.shared::cta.b64 [full], 1;
      mbarrier.init.shared::cta.b64 [full+8], 1;
      mbarrier.init.shared::cta.b64 [empty], 128;
      mbarrier.init.shared::cta.b64 [empty+8], 128;
      fence.mbarrier_init.release.cluster;
  READY:
      bar.sync 0;
      ld.shared.b32 %r5, [slot];
      mov.u32 %r6, 0;
      setp.ge.u32 %p2, %r0, 128;
      @%p2 bra EPILOGUE;
      @%p0 bra DONE;
      mov.u32 %r7, data;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [loaded], 18432;
      cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data], [%rd0], 18432, [loaded];
      bfe.u32 %r8, %r7, 4, 14;
      cvt.u64.u32 %rd2, %r8;
      or.b64 %rd2, %rd2, 0x4000404000010000;
      add.u64 %rd3, %rd2, 1024;
      setp.ne.u32 %p3, %r0, %r0;
  WAIT_LOADED:
      mbarrier.try_wait.parity.shared::cta.b64 %p4, [loaded], 0;
      @!%p4 bra WAIT_LOADED;
  MULTIPLY:
      setp.ge.u32 %p5, %r6, %r1;
      @%p5 bra DONE;
      and.b32 %r9, %r6, 1;
      shl.b32 %r10, %r9, 3;
      add.u32 %r11, %r3, %r10;
      add.u32 %r12, %r4, %r10;
      shl.b32 %r13, %r9, 4;
      add.u32 %r14, %r5, %r13;
      shr.u32 %r15, %r6, 1;
      and.b32 %r15, %r15, 1;
      xor.b32 %r16, %r15, 1;
  WAIT_EMPTY:
      mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r12], %r16;
      @!%p4 bra WAIT_EMPTY;
      tcgen05.fence::after_thread_sync;
      tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd2, %rd3, 0x8040490, %p3;
      tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r11];
      add.u32 %r6, %r6, 1;
      bra MULTIPLY;
  EPILOGUE:
      setp.ge.u32 %p5, %r6, %r1;
      @%p5 bra DONE;
      and.b32 %r9, %r6, 1;
      shl.b32 %r10, %r9, 3;
      add.u32 %r11, %r3, %r10;
      add.u32 %r12, %r4, %r10;
      shl.b32 %r13, %r9, 4;
      add.u32 %r14, %r5, %r13;
      and.b32 %r17, %r2, 3;
      shl.b32 %r17, %r17, 21;
      add.u32 %r14, %r14, %r17;
      shr.u32 %r15, %r6, 1;
      and.b32 %r15, %r15, 1;
  WAIT_FULL:
      mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r11], %r15;
      @!%p4 bra WAIT_FULL;
      tcgen05.fence::after_thread_sync;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];
      tcgen05.wait::ld.sync.aligned;
      tcgen05.fence::before_thread_sync;
      mbarrier.arrive.shared::cta.b64 _, [%r12];
      st.global.b32 [%rd1], %r18;
      add.u32 %r6, %r6, 1;
      bra EPILOGUE;
  DONE:
      bar.sync 0;
      @%p1 bra END;
      tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;
  END:
      ret;
""").base
