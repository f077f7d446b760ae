"""Rules about the order of accesses to shared memory, between threads and proxies, in runs of the whole kernel."""

from ...protocols.model.outcome import Flaw
from ..ordinary_kernels import lanes_in_step
from ..protocol_kernels import RING, STORE
from ..rule import Hits, KernelView, Rule, Severity
from ..violations import of_axioms, of_flaws


def _in_step(view: KernelView) -> Hits:
    yield from of_axioms("SM023")(view)
    yield from lanes_in_step(view)


RULES = (
    # Checks: as SM020, for an ordinary write and a copy or matrix operation that is ordered after it: a proxy fence
    # must lie on the way. PX001 finds the same in the code of one thread; this rule follows the order through barriers
    # and waits.
    # Why: the two go through different paths to shared memory; a barrier orders threads, not proxies. Source: PTX ISA
    # 8.7 (proxies), 9.7.14.4 (`fence.proxy`).
    # Not checked: see SM020.
    Rule(
        id="PX020",
        name="cross-proxy-access-without-fence",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §8.7, 9.7.14.4",
        summary="No proxy fence lies between an ordinary write of shared memory and its use through the async proxy.",
        consequence="The copy or matrix operation may not see the write: wrong results, in some runs only.",
        advice="Let each writing thread execute `fence.proxy.async` after its writes, before the barrier or arrival.",
        example=STORE.variant("""
+     fence.proxy.async.shared::cta;

      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 512;  // expect: PX020
"""),
        check=of_flaws(Flaw.MISSING_PROXY_FENCE),
    ),
    # Checks: as PX020, where PTX asks for a fence and hardware has been seen to do without: ordinary reads before a
    # bulk copy overwrites the bytes, ordinary writes whose fence another thread executes, and `cp.async` before a
    # matrix instruction reads what it brought.
    # Why: barriers order threads; the two proxies are different paths to shared memory, and only a proxy fence orders
    # them. CUTLASS's and Triton's pipelines hand a slot back to TMA without one, and those of CUTLASS with `cp.async`
    # have none before `wgmma` and `tcgen05.mma`: the rule is pedantic. Source: PTX ISA 8.7 (proxies), 9.7.14.4
    # (`fence.proxy`).
    # Not checked: see SM020.
    Rule(
        id="PX021",
        name="barrier-as-proxy-fence",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §8.7, 9.7.14.4",
        summary=(
            "No proxy fence of the accessing thread lies between an ordinary access and a later one through the async "
            "proxy."
        ),
        consequence="The order between the two is not guaranteed by PTX; released libraries rely on it.",
        advice=(
            "Let the accessing thread execute `fence.proxy.async` before the arrival or barrier that hands the bytes "
            "over."
        ),
        example=RING.variant("""
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: PX021

      ld.shared.u32 %r13, [%r14];
+     fence.proxy.async.shared::cta;
"""),
        check=of_axioms("PX021"),
    ),
    # Checks: every two accesses of overlapping bytes in a run of the whole kernel, ordinary ones, copies and matrix
    # operations alike: the read must come after the write, and see it, in every schedule.
    # Why: the read gets old bytes, or part of them. Source: PTX ISA 8.10 (causality order); 9.7.14.16 (what a wait on
    # an mbarrier makes visible).
    # Not checked: accesses whose place cannot be followed; the verdict on slot safety is `unknown` then.
    Rule(
        id="SM020",
        name="unordered-read-after-write",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §8.10, 9.7.14.16",
        summary="Shared memory is read, and nothing orders the read after the write of the same bytes.",
        consequence="Wrong results, in some runs only.",
        advice="Wait for the mbarrier or group of the copy, or put a barrier between writing and reading threads.",
        example=RING.variant("""
      add.u32 %r14, %r4, %r14;
      shr.u32 %r11, %r5, 1;
      and.b32 %r11, %r11, 1;
-     ld.shared.u32 %r15, [%r14];  // expect: SM020
"""),
        check=of_flaws(Flaw.READ_TOO_EARLY, but=("tmem",)),
    ),
    # Checks: as SM020, for a write after a read: the slot must be released by all its readers, after they have read.
    # Why: the reader gets bytes of the next round. Source: PTX ISA 8.10 (causality order); 9.7.14.16.
    # Not checked: see SM020.
    Rule(
        id="SM021",
        name="unordered-write-after-read",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §8.10, 9.7.14.16",
        summary="Shared memory is written, and nothing orders the write after an earlier read of the same bytes.",
        consequence="The reader gets data of the next round: wrong results, in some runs only.",
        advice=(
            "Release the slot after the last read of it, by every thread that reads, and wait for that before "
            "writing."
        ),
        example=RING.variant("""
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: SM021

+     ld.shared.u32 %r13, [%r14];
      mbarrier.arrive.shared::cta.b64 _, [%r9];
-     ld.shared.u32 %r13, [%r14];
"""),
        check=of_flaws(Flaw.OVERWRITE, but=("tmem",)),
    ),
    # Checks: as SM020, for two writes.
    # Why: which bytes stay depends on the schedule. A stage that is too small for its copy is a usual cause. Source:
    # PTX ISA 8.10 (causality order).
    # Not checked: see SM020.
    Rule(
        id="SM022",
        name="unordered-write-after-write",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §8.10",
        summary="Two writes of the same bytes of shared memory are in no order.",
        consequence="Either may stay: wrong results, in some runs only.",
        advice="Give each copy its own bytes, or order the writes by a barrier or a wait.",
        example=RING.variant("""
-     shl.b32 %r10, %r6, 9;
+     shl.b32 %r10, %r6, 10;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: SM022
"""),
        check=of_flaws(Flaw.WRITES_COLLIDE, but=("tmem",)),
    ),
    # Checks: conflicting ordinary accesses of two lanes of one warp, or of a lane and somebody that another lane of
    # its warp has signalled, with no `bar.warp.sync` or the like between; stores of one value by several threads;
    # waits that another lane's next phase could overtake, where the lanes only wait (where they also use the bytes, it
    # is a violation); arrivals of lanes, by one instruction, at the mbarriers of several CTAs.
    # Why: since sm_70 lanes are scheduled independently; PTX promises no order between them. Code that was compiled
    # for warps in step mostly runs all the same: the rule is pedantic. Source: PTX ISA §9.7.14 (`bar.warp.sync`), CUDA
    # C++ Programming Guide, independent thread scheduling.
    # Not checked: see SM020.
    Rule(
        id="SM023",
        name="implicit-warp-synchrony",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.14",
        summary="Only lanes of a warp that run in step keep two conflicting accesses, or two phases, apart.",
        consequence=(
            "A lane that falls behind reads or overwrites what is not meant for it; nothing in PTX rules that out."
        ),
        advice="Put `bar.warp.sync` (`__syncwarp`) between what one lane writes and another reads or signals.",
        example=STORE.variant("""
=     st.shared.u32 [%r2], %r0;
      st.shared.u32 [%r2], %r0;
      and.b32 %r3, %r0, 96;
      shl.b32 %r3, %r3, 2;
      add.u32 %r3, %r1, %r3;
+     bar.warp.sync 0xffffffff;
      ld.shared.u32 %r4, [%r3];  // expect: SM023
"""),
        check=_in_step,
    ),
    # Checks: as SM020, for a write that execution alone puts in front of another access, a copy that was seen complete
    # too: the arrival on the way is relaxed, or is the completion of asynchronous work (a bulk copy, a commit of
    # `tcgen05`) behind the write, or the wait is relaxed, or acquires from its own CTA what another one stored here and
    # released for the cluster.
    # Why: PTX makes a write visible by a release and an acquire that match it; execution, and the completion of other
    # work, do not. On an H100 such words were there, in 1.2 × 10⁹ hand-overs and more of each kind, but for commits of
    # `tcgen05`, which it does not have: the rule is pedantic. A compiler may move accesses across relaxed operations.
    # Source: PTX ISA 8.10 (causality order), 9.7.14.16 (what a wait on an mbarrier makes visible).
    # Not checked: see SM020. Writes that another CTA reads, or that go to one, must be released: these are SM020.
    Rule(
        id="SM029",
        name="unreleased-write",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §8.10, 9.7.14.16",
        summary="Execution alone puts a write of shared memory in front of its reader: no release and acquire do.",
        consequence="PTX does not promise that the reader sees the write; hardware has been seen to keep the order.",
        advice="Let an arrival with release follow the write, and the reader acquire at the scope of both.",
        example=RING.variant("""
=     .shared .align 8 .b64 empty[2];
      .shared .align 8 .b64 empty[2];
      .shared .align 4 .b32 rounds[2];

=     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;
      mov.u32 %r15, rounds;
      shl.b32 %r16, %r6, 2;
      add.u32 %r15, %r15, %r16;
+     st.shared.u32 [%r15], %r5;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;
-     st.shared.u32 [%r15], %r5;

=     ld.shared.u32 %r13, [%r14];
      mov.u32 %r15, rounds;
      shl.b32 %r16, %r6, 2;
      add.u32 %r15, %r15, %r16;
      ld.shared.u32 %r13, [%r15];  // expect: SM029
"""),
        check=of_axioms("SM029"),
    ),
)
