"""Rules about the phases and the life of mbarriers, in runs of the whole kernel."""

from ...explain.violations import Cause
from ...protocols.model.outcome import Flaw
from ..protocol_kernels import COPY, PAIR, RING, TWO_PHASES
from ..rule import Rule, Severity
from ..violations import of_axioms, of_flaws

RULES = (
    # Checks: runs of the whole kernel, all threads of a CTA or cluster together, in which no thread can go on; the
    # counterexample says who waits for what, and who would have had to arrive.
    # Why: the kernel hangs. Usual causes are a parity that is one phase off, a release that one role leaves out on its
    # last round, an expected count that no longer fits the number of arriving threads, and roles that wait for each
    # other. Source: PTX ISA §9.7.14.16.8 (a phase completes when all its arrivals and bytes have come).
    # Not checked: kernels that verification cannot follow; their verdict is `unknown`.
    Rule(
        id="MB020",
        name="mbarrier-never-completes",
        severity=Severity.HANG,
        since="0.2",
        section="PTX ISA §9.7.14.16.8",
        summary="Threads wait for a phase of an mbarrier that never completes.",
        consequence="The kernel hangs.",
        advice=(
            "Follow the steps of each role: either the wait names the wrong parity, or an arrival is missing, or the "
            "expected count is too high."
        ),
        example=RING.variant("""
-     mov.u32 %r12, %r11;
+     xor.b32 %r12, %r11, 1;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;  // expect: MB020
"""),
        check=of_flaws(Flaw.DEADLOCK, mechanisms=("mbarrier",), cause=Cause.ARRIVALS),
    ),
    # Checks: for each wait on a parity, whether the phase after the one that it names can complete before it has seen
    # it.
    # Why: a parity tells a phase from the one before it, and no more. A thread that comes late sees the parity of a
    # later phase, and waits for a completion that may never come, or takes another stage's data for its own. Source:
    # PTX ISA §9.7.14.16.5.1 (a phase must be observed complete before an arrive-on of the following phase).
    # Not checked: see MB020.
    Rule(
        id="MB021",
        name="missed-phase",
        severity=Severity.HANG,
        since="0.2",
        section="PTX ISA §9.7.14.16.5.1",
        summary="The phase after the one that a wait is for can complete before the wait has seen it.",
        consequence="The late thread waits for the wrong phase: it hangs, or goes on with the data of another round.",
        advice=(
            "Let every thread that waits arrive afterwards (or synchronise with the one that does) on the barrier "
            "that lets the next phase begin."
        ),
        example=RING.variant("""
- .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 96
+ .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 64

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: MB021

-     setp.ge.u32 %p5, %r0, 64;
-     @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r9];
+     mbarrier.arrive.shared::cta.b64 _, [%r9];
"""),
        check=of_flaws(Flaw.MISSED_PHASE),
    ),
    # Checks: whether each arrival at an mbarrier comes after the completion of the phase before, as far as the
    # arriving thread can know: through a wait, or through another barrier.
    # Why: a thread that runs ahead arrives twice in one phase. The phase completes without another thread, and that
    # thread's arrival then counts in the next one.
    # Not checked: see MB020.
    Rule(
        id="MB022",
        name="arrival-in-earlier-phase",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.5.1",
        summary="An arrival can count in an earlier phase of the mbarrier than it is meant for.",
        consequence=(
            "A phase completes before all its threads have arrived: data is read too early or overwritten too soon, "
            "or a later phase never completes."
        ),
        advice="Wait for the completion of a phase before arriving in the next one.",
        example=RING.variant("""
+ WAIT_EMPTY:
+     mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;
+     @!%p3 bra WAIT_EMPTY;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;  // expect: MB022
"""),
        check=of_flaws(Flaw.EARLY_ARRIVAL, mechanisms=("mbarrier",)),
    ),
    # Checks: arrivals of all threads in each phase of each mbarrier, against the count that it was initialised with.
    # Why: the pending count goes below zero; what is too much counts in later phases. Source: PTX ISA §9.7.14.16.8; the
    # range of the pending count is in 9.7.14.16.3.
    # Not checked: see MB020.
    Rule(
        id="MB023",
        name="excess-mbarrier-arrivals",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.8",
        summary="More threads arrive in one phase of an mbarrier than the count that it was initialised with.",
        consequence="Undefined; the surplus ends later phases too early, so data is read before it has come.",
        advice="Initialise the mbarrier with the number of arrivals of a phase, or let fewer threads arrive.",
        example=RING.variant("""
-     mbarrier.init.shared::cta.b64 [empty], 16;
-     mbarrier.init.shared::cta.b64 [empty+8], 16;
+     mbarrier.init.shared::cta.b64 [empty], 32;
+     mbarrier.init.shared::cta.b64 [empty+8], 32;

      mbarrier.arrive.shared::cta.b64 _, [%r9];  // expect: MB023
"""),
        check=of_flaws(Flaw.OVER_ARRIVAL, mechanisms=("mbarrier",)),
    ),
    # Checks: whether each wait on a parity comes after the completion of the phase before, as far as its thread can
    # know.
    # Why: with two phases open, the parity of the second is also that of the one before the first: the wait passes at
    # once.
    # Not checked: see MB020.
    Rule(
        id="MB024",
        name="premature-parity-wait",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §9.7.14.16.5.1",
        summary="A wait on a parity can pass before the phase that it is for has completed.",
        consequence="The thread goes on too early, with data that has not come.",
        advice="Wait for each phase in turn, or let something else order this wait after the phase before.",
        example=TWO_PHASES.variant("""
+     mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
+     @!%p2 bra OTHER;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 1;  // expect: MB024
"""),
        check=of_flaws(Flaw.EARLY_WAIT),
    ),
    # Checks: each operation on an mbarrier, at the address that it has in a run, against the initialisations of all
    # threads. MB003 finds the same in the code of one thread; this rule also sees barriers that are addressed by stage
    # or rank.
    # Why: the contents are whatever was in shared memory. Source: PTX ISA §9.7.14.16 (any operation but init on an
    # object that is not initialised is undefined).
    # Not checked: see MB020.
    Rule(
        id="MB025",
        name="use-before-mbarrier-init",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.12",
        summary="An mbarrier is used that no thread has initialised.",
        consequence="Undefined; usually the kernel hangs.",
        advice="Initialise every stage, in the CTA that the address is of, before its first use.",
        example=RING.variant("""
+     mbarrier.init.shared::cta.b64 [empty+8], 32;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;  // expect: MB025
"""),
        check=of_flaws(Flaw.UNINITIALISED),
    ),
    # Checks: each initialisation, at the address that it has in a run, against those of all threads before it. MB004
    # and MB007 find the same in the code of one thread.
    # Why: arrivals and bytes that have come already are lost.
    # Not checked: see MB020.
    Rule(
        id="MB026",
        name="init-of-live-mbarrier",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.12",
        summary="An mbarrier is initialised while it is alive.",
        consequence="Undefined; arrivals that have come already are lost, and the kernel hangs.",
        advice=(
            "Let one thread initialise each mbarrier once, or invalidate it, behind a barrier of all its users, in "
            "between."
        ),
        example=RING.variant("""
-     and.b32 %r13, %r0, 31;
-     setp.ne.u32 %p5, %r13, 0;
-     @%p5 bra READY;
+     @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [full], 1;  // expect: MB026
      mbarrier.init.shared::cta.b64 [full+8], 1;  // expect: MB026
      mbarrier.init.shared::cta.b64 [empty], 32;  // expect: MB026
      mbarrier.init.shared::cta.b64 [empty+8], 32;  // expect: MB026
"""),
        check=of_flaws(Flaw.DOUBLE_INIT),
    ),
    # Checks: whether each operation on an mbarrier comes after its initialisation, as far as the thread can know:
    # through a barrier of the CTA, or the cluster barrier for other CTAs and for copies from them.
    # Why: which of the two comes first depends on the schedule.
    # Not checked: see MB020.
    Rule(
        id="MB027",
        name="unordered-mbarrier-init",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.12",
        summary="Nothing orders a use of an mbarrier after its initialisation by another thread.",
        consequence="Undefined; some runs hang, or lose arrivals.",
        advice=(
            "Put a barrier of all threads (`bar.sync`, the cluster barrier for other CTAs) between initialisation and "
            "first use."
        ),
        example=RING.variant("""
+     bar.sync 0;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: MB027
"""),
        check=of_flaws(Flaw.UNORDERED_INIT),
    ),
    # Checks: whether each invalidation comes after the last operation of every thread and copy on the mbarrier, as far
    # as the invalidating thread can know. MB005 finds uses after the invalidation in the code of one thread.
    # Why: an operation on an object that is no mbarrier any more is undefined; its bytes may belong to something else.
    # Not checked: see MB020.
    Rule(
        id="MB028",
        name="unordered-mbarrier-inval",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.13",
        summary="An mbarrier is invalidated, and nothing orders that after its last use by another thread.",
        consequence="Undefined; the other thread hangs, or changes what lies there now.",
        advice="Put a barrier of all users in front of the invalidation.",
        example=TWO_PHASES.variant("""
+     bar.sync 0;
      @!%p0 mbarrier.inval.shared::cta.b64 [bar];  // expect: MB028
"""),
        check=of_flaws(Flaw.EARLY_INVALIDATION),
    ),
    # Checks: each access of shared memory in a run against the mbarriers that are alive then. MB006 finds ordinary
    # accesses by the code of one thread.
    # Why: only mbarrier operations may touch an mbarrier; a copy that is longer than its buffer changes the one behind
    # it.
    # Not checked: accesses whose place cannot be followed.
    Rule(
        id="MB029",
        name="live-mbarrier-overwritten",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.4",
        summary="Bytes of a live mbarrier are accessed by something else than mbarrier operations.",
        consequence="Undefined; arrivals are lost, and the kernel hangs.",
        advice="Keep buffers and mbarriers apart, or invalidate the mbarrier before its bytes are used otherwise.",
        example=RING.variant("""
-     shl.b32 %r10, %r6, 11;
+     shl.b32 %r10, %r6, 10;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: MB029
"""),
        check=of_flaws(Flaw.BARRIER_OVERWRITTEN),
    ),
    # Checks: accesses of the bytes of an mbarrier that is no longer used but was not invalidated, and invalidations
    # while asynchronous work may still complete on it. MB028 and MB029 find both where the mbarrier is still in use.
    # Why: PTX ends the life of an mbarrier with `mbarrier.inval` only, when nothing is pending on it. Kernels that
    # reuse the memory of their pipeline for the epilogue do without: the rule is pedantic.
    # Not checked: accesses whose place cannot be followed.
    Rule(
        id="MB030",
        name="missing-mbarrier-inval",
        severity=Severity.UNDEFINED,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.14.16.4, 9.7.14.16.10",
        summary=(
            "The bytes of an mbarrier are used otherwise, or it is invalidated, before its life has ended as PTX "
            "asks."
        ),
        consequence="Undefined by PTX; released libraries rely on it where nothing uses the mbarrier any more.",
        advice="Wait for all phases, invalidate the mbarrier with `mbarrier.inval`, and use its bytes after that.",
        example=COPY.variant("""
+ WAIT:
+     mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0;
+     @!%p0 bra WAIT;
      mbarrier.inval.shared::cta.b64 [%r1];  // expect: MB030
"""),
        check=of_axioms("MB030"),
    ),
    # Checks: uses by other CTAs, or by copies, of an mbarrier whose initialisation no fence makes visible, though the
    # thread has executed `fence.mbarrier_init` before. MB027 finds uses without any such fence.
    # Why: the fence publishes earlier initialisations only. A cluster barrier mostly does the rest: the rule is
    # pedantic. Source: PTX ISA §9.7.14.4 (`fence.mbarrier_init`).
    # Not checked: see MB020.
    Rule(
        id="MB031",
        name="mbarrier-init-after-fence",
        severity=Severity.UNDEFINED,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.14.4",
        summary="An mbarrier is initialised after `fence.mbarrier_init`, which publishes earlier initialisations only.",
        consequence="Other CTAs and copies may find an mbarrier that is not initialised.",
        advice="Put `fence.mbarrier_init.release.cluster` behind all initialisations.",
        example=PAIR.variant("""
+     @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;

=     barrier.cluster.arrive.aligned;
-     @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;
      barrier.cluster.arrive.relaxed.aligned;

      @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];  // expect: MB031

      mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;  // expect: MB031
"""),
        check=of_axioms("MB031"),
    ),
    # Checks: in a run of the whole kernel, waits behind which a warp does nothing that concerns others, where the
    # phase after the one that it waits for can complete first, though nothing is late as long as every warp comes in
    # time.
    # Why: a parity tells a phase from the one before it, and no more: a warp that falls behind by two phases waits for
    # ever. Compilers let a whole warpgroup wait for room that one of its threads fills, and such warps come in time:
    # the rule is pedantic. Where the warp uses what it waits for, or the wait hangs without being late, it is MB021 or
    # MB020. Source: PTX ISA §9.7.14.16.5.1 (a phase must be observed complete before an arrive-on of the following
    # phase).
    # Not checked: see MB020.
    Rule(
        id="MB032",
        name="unsynchronised-observer-wait",
        severity=Severity.HANG,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.14.16.5.1",
        summary="A warp that nobody waits for waits for a phase, and the one after that can complete first.",
        consequence="If the warp falls behind by two phases, it waits for ever, and the kernel does not end.",
        advice="Let only threads wait that use what they wait for, or let all arrive on what begins the next phase.",
        example=RING.variant("""
- .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 96
+ .visible .entry kernel(.param .u64 in, .param .u32 tiles) .reqntid 64

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: MB032

-     setp.ge.u32 %p5, %r0, 64;
-     @!%p5 ld.shared.u32 %r13, [%r14];
-     @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r9];
+     ld.shared.u32 %r13, [%r14];
+     mbarrier.arrive.shared::cta.b64 _, [%r9];
"""),
        check=of_axioms("MB032"),
    ),
)
