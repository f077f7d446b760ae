"""Rules about kernels without asynchronous work: two threads that race, or that come to different barriers."""

from ..example import sm_80
from ..ordinary_kernels import absent_sources, divergence, races
from ..rule import Rule, Severity

RULES = (
    # Checks: every two accesses of shared memory by two threads of a block, one of them a write, between which no
    # barrier lies in any run: the solver is asked for two threads and one byte, and what it finds is confirmed by
    # running both threads with numbers. Where what is loaded decides, the block is run with contents of memory that are
    # sorted, different, flags, zeros or none of that: each must have the race. Parameters that decide make no finding.
    # Why: the order of the two accesses depends on the schedule. Source: PTX ISA 8.7 (data races), 9.7.14.1 (`bar`).
    # Not checked: kernels with asynchronous copies, mbarriers, clusters or counted barriers, which are verified as a
    # whole (SM020 to SM022); global memory.
    Rule(
        id="SM024",
        name="race-between-barriers",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA 8.7, 9.7.14.1",
        summary="Two threads access the same byte of shared memory, one of them writing, with no barrier between.",
        consequence="The reader gets what was there before or after: wrong results, in some runs only.",
        advice="Put `__syncthreads()` (`bar.sync 0`) between the two accesses, also between two rounds of a loop. "
        "Where both threads add to one place, use an atomic operation; where two arrays share it, set these apart.",
        example=sm_80("""
  (.param .u64 in, .param .u64 out) .reqntid 128
      .shared .align 16 .b8 tile[512];
      ld.param.u64 %rd0, [in];
      ld.param.u64 %rd1, [out];
      mov.u32 %r0, %tid.x;
      mul.wide.u32 %rd2, %r0, 4;
      add.u64 %rd0, %rd0, %rd2;
      add.u64 %rd1, %rd1, %rd2;
      ld.global.u32 %r1, [%rd0];
      mov.u32 %r2, tile;
      shl.b32 %r3, %r0, 2;
      add.u32 %r4, %r2, %r3;
-     st.shared.u32 [%r4], %r1;  // expect: SM024
+     st.shared.u32 [%r4], %r1;
+     bar.sync 0;
      xor.b32 %r5, %r3, 508;
      add.u32 %r5, %r2, %r5;
      ld.shared.u32 %r6, [%r5];
      st.global.u32 [%rd1], %r6;
      ret;
"""),
        check=races(of_one_instruction=False),
    ),
    # Checks: as SM024, for one instruction by which two threads store different values to one byte.
    # Why: which value stays depends on the schedule; of lanes of one warp PTX does not say which. Source: PTX ISA 8.7.
    # Not checked: stores of values that may be equal, such as what all threads have read from one place.
    Rule(
        id="SM025",
        name="one-place-for-many-threads",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA 8.7",
        summary="Several threads store different values to the same byte of shared memory by one instruction.",
        consequence="Any of the values may stay.",
        advice="Let one thread store, give each thread its own place, or use an atomic operation.",
        example=sm_80("""
  (.param .u64 out) .reqntid 128
      .shared .align 16 .b8 tile[512];
      mov.u32 %r0, %tid.x;
      mov.u32 %r2, tile;
      shl.b32 %r3, %r0, 2;
-     and.b32 %r3, %r3, 252;
      add.u32 %r4, %r2, %r3;
-     st.shared.u32 [%r4], %r0;  // expect: SM025
+     st.shared.u32 [%r4], %r0;
      ret;
"""),
        check=races(of_one_instruction=True),
    ),
    # Checks: barriers of the block that two threads, run with numbers, come to in different orders or numbers: in a
    # branch, or in a loop that the two leave at different times. Threads that have ended are not waited for.
    # Why: each barrier completes when all threads of the block have come; the others wait for ever, or are counted at
    # a barrier that they were not meant for. Source: PTX ISA 9.7.14.1.
    # Not checked: branches on values from memory; those are not decided (`barrier-divergence`).
    Rule(
        id="NB013",
        name="divergent-block-barrier",
        severity=Severity.HANG,
        since="0.2",
        section="PTX ISA 9.7.14.1",
        summary="Some threads of a block come to a barrier that others, still running, pass by.",
        consequence="The block hangs, or threads meet at different barriers and read too early.",
        advice="Move the barrier out of the branch, and let all threads go through a loop as often.",
        example=sm_80("""
  (.param .u64 out) .reqntid 128
      .shared .align 16 .b8 tile[512];
      mov.u32 %r0, %tid.x;
      mov.u32 %r2, tile;
      shl.b32 %r3, %r0, 2;
      add.u32 %r4, %r2, %r3;
      setp.ge.u32 %p1, %r0, 64;
      @%p1 bra REST;
      st.shared.u32 [%r4], %r0;
-     bar.sync 0;  // expect: NB013
  REST:
      bar.sync 0;
      ld.shared.u32 %r5, [tile];
      ret;
"""),
        check=divergence,
    ),
    # Checks: `shfl.sync` in a loop that lanes of a warp leave in different rounds: all lanes are run with numbers, and
    # one reads from another that its mask names and that comes to no instruction of the warp any more.
    # Why: what a lane reads from one that is not active is undefined. Source: PTX ISA 9.7.9.6.
    # Not checked: lanes that ended in front of the loop; kernels with asynchronous work.
    Rule(
        id="NB014",
        name="shuffle-from-absent-lane",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA 9.7.9.6",
        summary="A lane reads by shfl.sync from a lane that has left their loop.",
        consequence="The value is undefined.",
        advice="Let all lanes of the mask go through the loop equally often, and guard what they do in it.",
        example=sm_80("""
  (.param .u64 out) .reqntid 32
      ld.param.u64 %rd1, [out];
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, 0;
      mov.u32 %r2, %r0;
  LOOP:
-     setp.ge.u32 %p1, %r1, %r0;
+     setp.ge.u32 %p1, %r1, 5;
      @%p1 bra DONE;
      shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; // expect: NB014
      add.u32 %r2, %r2, %r3;
      add.u32 %r1, %r1, 1;
      bra LOOP;
  DONE:
      mul.wide.u32 %rd2, %r0, 4;
      add.s64 %rd1, %rd1, %rd2;
      st.global.u32 [%rd1], %r2;
      ret;
"""),
        check=absent_sources,
    ),
)
