"""Rules about the warps of one warpgroup and `wgmma`, in runs of the whole kernel."""

from ..rule import Rule, Severity, sm_90a
from ..violations import of_axioms

RULES = (
    # Checks: in a run of the whole kernel, a write of bytes that a `wgmma` of one warp reads, which comes after the
    # wait of another warp of the same warpgroup and not after its own.
    # Why: `wgmma.wait_group` promises completion of the groups of the executing threads. Released libraries let one
    # warp hand a slot back for its warpgroup all the same, so the rule is pedantic.
    Rule(
        id="WG023",
        name="wgmma-awaited-by-another-warp",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.16.7.3",
        summary="Bytes that wgmma reads are written when only another warp of the warpgroup has waited for it.",
        consequence=(
            "The PTX ISA does not promise that the part of the other warps is over: they may read the new bytes."
        ),
        advice="Let all warps of the warpgroup meet, or arrive, behind their own wgmma.wait_group.",
        example=sm_90a("""
  (.param .u64 source, .param .u32 tiles) .reqntid 128
      .shared .align 8 .b64 full;
      .shared .align 1024 .b8 tile[8192];
      .reg .pred stop, ready, skip;
      .reg .b32 thread, n, step, parity, bar, buffer, at;
      .reg .b64 from, a_desc;
      .reg .f32 c0, c1, c2, c3;
      ld.param.u64 from, [source];
      ld.param.u32 n, [tiles];
      mov.u32 thread, %tid.x;
      setp.ne.u32 skip, thread, 0;
      @skip bra READY;
      mbarrier.init.shared::cta.b64 [full], 1;
  READY:
      bar.sync 0;
      mov.u32 buffer, tile;
      shr.u32 at, buffer, 4;
      and.b32 at, at, 16383;
      cvt.u64.u32 a_desc, at;
      or.b64 a_desc, a_desc, 0x4000004000010000;
      mov.u32 step, 0;
      mov.u32 parity, 0;
  ROUND:
      setp.ge.u32 stop, step, n;
      @stop bra DONE;
      @skip bra WAIT_FULL;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;
      cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [from], 8192, [full];  // expect: WG023
      add.u64 from, from, 8192;
  WAIT_FULL:
      mbarrier.try_wait.parity.shared::cta.b64 ready, [full], parity;
      @!ready bra WAIT_FULL;
      wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, a_desc, a_desc, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
+     wgmma.wait_group.sync.aligned 0;
      bar.sync 0;
-     wgmma.wait_group.sync.aligned 0;
      xor.b32 parity, parity, 1;
      add.u32 step, step, 1;
      bra ROUND;
  DONE:
      ret;
"""),
        check=of_axioms("WG023"),
    ),
    # Checks: in a run of the whole kernel, a `wgmma` whose operand another warp of the same warpgroup has stored, with
    # its proxy fence, before it comes to the same `wgmma` itself, and nothing else that orders the two.
    # Why: `wgmma.fence` orders accesses of the executing warp. Released libraries multiply what the warpgroup has
    # stored without a barrier all the same, and an H100 waits for all four warps, so the rule is pedantic.
    Rule(
        id="WG024",
        name="wgmma-stored-by-another-warp",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.16.7.1",
        summary="Bytes that wgmma reads were stored by another warp of the warpgroup, with no barrier between.",
        consequence="The PTX ISA does not promise that the other warp has stored them: wgmma may read the old bytes.",
        advice="Let the warps of the warpgroup meet at a barrier between their proxy fences and the wgmma.",
        example=sm_90a("""
  (.param .u64 source) .reqntid 128
      .shared .align 8 .b64 full;
      .shared .align 1024 .b8 tile[8192];
      .shared .align 1024 .b8 other[4096];
      .reg .pred ready, skip;
      .reg .b32 thread, buffer, at;
      .reg .b64 from, a_desc, b_desc;
      .reg .f32 c0, c1, c2, c3;
      ld.param.u64 from, [source];
      mov.u32 thread, %tid.x;
      setp.ne.u32 skip, thread, 0;
      @skip bra READY;
      mbarrier.init.shared::cta.b64 [full], 1;
  READY:
      bar.sync 0;
      mov.u32 buffer, tile;
      shr.u32 at, buffer, 4;
      and.b32 at, at, 16383;
      cvt.u64.u32 a_desc, at;
      or.b64 a_desc, a_desc, 0x4000004000010000;
      mov.u32 buffer, other;
      shr.u32 at, buffer, 4;
      and.b32 at, at, 16383;
      cvt.u64.u32 b_desc, at;
      or.b64 b_desc, b_desc, 0x4000004000010000;
      @skip bra STORE;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;
      cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [from], 8192, [full];
  STORE:
      shl.b32 at, thread, 5;
      add.u32 at, at, buffer;
      st.shared.v4.u32 [at], {thread, thread, thread, thread};
      st.shared.v4.u32 [at+16], {thread, thread, thread, thread};
      fence.proxy.async.shared::cta;
+     bar.sync 0;
  WAIT_FULL:
      mbarrier.try_wait.parity.shared::cta.b64 ready, [full], 0;
      @!ready bra WAIT_FULL;
      wgmma.fence.sync.aligned;
-     // expect: WG024
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, a_desc, b_desc, 1, 1, 1, 0, 0;
      wgmma.commit_group.sync.aligned;
      wgmma.wait_group.sync.aligned 0;
      ret;
"""),
        check=of_axioms("WG024"),
    ),
)
