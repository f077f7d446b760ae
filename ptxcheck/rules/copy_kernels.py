"""Kernels that rules about asynchronous copies share: one copy each, as it should be."""

from .example import sm_80, sm_90a

BULK_STORE = sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      fence.proxy.async.shared::cta;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group.read 0;
  DONE:
      ret;
""").base
"""A tile that one thread copies to global memory."""

BULK_LOAD = sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mov.u32 %r1, tile;
      mov.u32 %r2, 256;
      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r2;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r2, [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
""").base
"""A tile that one thread copies to shared memory, and waits for."""

CP_ASYNC = sm_80("""
  (.param .u64 out) .reqntid 32
      .shared .align 128 .b8 tile[512];
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      shl.b32 %r2, %r0, 4;
      mov.u32 %r1, tile;
      add.u32 %r1, %r1, %r2;
      cp.async.ca.shared.global [%r1], [%rd0], 16;
      cp.async.commit_group;
      cp.async.wait_group 0;
      ld.shared.u32 %r3, [%r1];
      st.global.u32 [%rd0+64], %r3;
      ret;
""").base
"""Each thread copies 16 bytes to shared memory, waits and reads."""

TENSOR_STORE = sm_90a("""
  (.param .align 64 .b8 map[128]) .reqntid 128
      .shared .align 128 .b8 tile[512];
      mov.b64 %rd1, map;
      cvta.param.u64 %rd0, %rd1;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mov.u32 %r1, 8;
      mov.u32 %r2, 0;
      fence.proxy.async.shared::cta;
      cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r1, %r2}], [tile];
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
  DONE:
      ret;
""").base
"""A box that one thread copies to global memory."""
