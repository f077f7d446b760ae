"""Rules about the order of accesses to tensor memory, in runs of the whole kernel."""

from ...protocols.model.outcome import Flaw
from ..accumulator_kernels import ACCUMULATORS
from ..rule import Rule, Severity, sm_100a
from ..violations import of_axioms, of_flaws

RULES = (
    # Checks: as TM038, for a write or a deallocation after a read: whoever reads an accumulator must have read it
    # before it is handed back. A load is over at `tcgen05.wait::ld`, or where its registers are read.
    # Why: the reader gets numbers of the next tile. Source: PTX ISA §9.7.17.6, 9.7.17.7 (deallocation).
    # Not checked: see TM038.
    Rule(
        id="TM039",
        name="tmem-unordered-write-after-read",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §9.7.17.6",
        summary="Tensor memory is written or freed, and nothing orders that after an earlier read of the same columns.",
        consequence="The reader gets numbers of the next tile, in some runs only.",
        advice="Wait for the loads with tcgen05.wait::ld, then arrive at the mbarrier that the writer waits for.",
        example=ACCUMULATORS.variant("""
      tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd2, %rd3, 0x8040490, %p3;  // expect: TM039

+     tcgen05.wait::ld.sync.aligned;
+     tcgen05.fence::before_thread_sync;
"""),
        check=of_flaws(Flaw.OVERWRITE, mechanisms=("tmem",)),
    ),
    # Checks: addresses of multiplications, loads and stores in runs of the whole kernel, as numbers: D behind the end
    # of the allocation, loads and stores that start behind it, lanes that no layout of D starts at, lanes of another
    # warp; A, scale factors and metadata in columns of the D that is multiplied into; columns that were freed before.
    # Why: the columns may be those of another CTA; a warp reaches its own lanes alone; D is written while the rest is
    # read. Source: PTX ISA §9.7.17.1 (addressing), 9.7.17.8.1 (access restrictions), 9.7.17.10.5 to 9.7.17.10.7
    # (layouts).
    # Not checked: addresses that are not followed; loads that only end behind the allocation, as registers that nobody
    # reads may be among theirs; warps that name the first quarter of lanes (TM044).
    Rule(
        id="TM041",
        name="tmem-access-out-of-bounds",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.17.1",
        summary="Tensor memory is accessed at columns or lanes that are not there, not any more, or are those of D.",
        consequence="Accesses of foreign columns, a fault, or wrong numbers.",
        advice="Allocate enough columns, and address lane 32 × (warp % 4) in the upper half of the address.",
        example=ACCUMULATORS.variant("""
-     shl.b32 %r17, %r17, 20;
+     shl.b32 %r17, %r17, 21;

      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];  // expect: TM041
"""),
        check=of_flaws(Flaw.OUTSIDE_ALLOCATION),
    ),
    # Checks: deallocations in runs of the whole kernel, with their addresses as numbers; whether those for a pair of
    # CTAs come behind the allocations of both (NVIDIA/cutlass #3435).
    # Why: the columns of another allocation are freed, or the hardware waits for lanes that never come.
    # Not checked: addresses that are not followed; numbers of columns (TM003).
    Rule(
        id="TM042",
        name="tmem-invalid-dealloc",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.17.7",
        summary="Tensor memory is freed twice, never, too early, from a column that is not its first, or by lanes.",
        consequence="Columns of others are freed, or a warp or a later CTA waits for ever.",
        advice="Let one whole warp free each allocation once, with the address that the allocation wrote.",
        example=ACCUMULATORS.variant("""
-     @!%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;  // expect: TM042
+     tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;
"""),
        check=of_flaws(Flaw.FREED_AMISS),
    ),
    # Checks: in a run of the whole kernel, a load or deallocation of columns that another warp stored, behind an
    # arrival of that warp, where no `tcgen05.wait::st` comes between the store and the arrival.
    # Why: PTX lets the store run on behind the arrival. Released attention kernels hand their row maxima over like
    # this all the same, so the rule is pedantic. Source: PTX ISA §9.7.17.6.4 and 9.7.17.8.5.
    # Not checked: see TM038.
    Rule(
        id="TM043",
        name="tmem-store-signalled-before-wait",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.17.6.4",
        summary="A warp loads from tensor memory what another warp stored and told of without a tcgen05.wait::st.",
        consequence="Nothing in PTX says that the load gets the new numbers.",
        advice="Execute tcgen05.wait::st.sync.aligned between the store and the arrival.",
        example=sm_100a("""
  (.param .u32 n) .reqntid 256
      .shared .align 4 .b32 slot;
      .shared .align 8 .b64 stored;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      setp.ne.u32 %p0, %r1, 0;
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra READY;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [stored], 32;
  READY:
      bar.sync 0;
      ld.shared.b32 %r3, [slot];
      setp.eq.u32 %p2, %r2, 4;
      @%p2 bra LOAD;
      @%p1 bra DONE;
      tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r1};
+     tcgen05.wait::st.sync.aligned;
      mbarrier.arrive.shared::cta.b64 _, [stored];
-     tcgen05.wait::st.sync.aligned;
      bra DONE;
  LOAD:
      mbarrier.try_wait.parity.shared::cta.b64 %p3, [stored], 0;
      @!%p3 bra LOAD;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3]; // expect: TM043
      tcgen05.wait::ld.sync.aligned;
  DONE:
      bar.sync 0;
      @%p1 bra END;
      tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
  END:
      ret;
"""),
        check=of_axioms("TM043"),
    ),
    # Checks: two accesses of the same columns by different warps, one of them a write, that barriers put in order in a
    # run of the whole kernel: whether `tcgen05.fence::before_thread_sync` lies between the earlier one and what tells
    # of it, unless a commit does, and `::after_thread_sync` between the wait and the later one.
    # Why: PTX orders tcgen05 operations of different threads by these fences. Public kernels were mended for lack of
    # them, others do without, so the rule is pedantic. Source: PTX ISA §9.7.17.6.4 and 9.7.17.11.1.
    # Not checked: deallocations; threads of one warp.
    Rule(
        id="TM045",
        name="missing-tcgen05-fence",
        severity=Severity.WRONG_RESULT,
        pedantic=True,
        since="0.2",
        section="PTX ISA §9.7.17.11.1",
        summary="A barrier orders accesses of tensor memory by different warps, without the tcgen05 fences around it.",
        consequence="Nothing in PTX says that the later access comes behind the earlier one.",
        advice=(
            "Execute tcgen05.fence::before_thread_sync in front of the arrival and tcgen05.fence::after_thread_sync "
            "behind the wait."
        ),
        example=ACCUMULATORS.variant("""
=     tcgen05.fence::after_thread_sync;
=     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];
+     tcgen05.fence::after_thread_sync;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];  // expect: TM045
"""),
        check=of_axioms("TM045"),
    ),
    # Checks: every two accesses of the same columns and lanes in a run of the whole kernel: multiplications, copies,
    # loads, stores and deallocations. The read must come after the end of the write in every schedule: behind the
    # mbarrier of a commit, or behind `tcgen05.wait::st`.
    # Why: the read gets old numbers, or sums that are not complete. Source: PTX ISA §9.7.17.6 (memory consistency of
    # tcgen05), 9.7.17.12 (commit).
    # Not checked: accesses whose address is not followed; the verdict on slot safety says so then.
    Rule(
        id="TM038",
        name="tmem-unordered-read-after-write",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §9.7.17.6",
        summary="Tensor memory is read, and nothing orders the read after the end of what writes the same columns.",
        consequence="Old numbers or incomplete sums, in some runs only.",
        advice=(
            "Commit multiplications to an mbarrier and wait for its phase; wait for stores with tcgen05.wait::st "
            "before the threads synchronise."
        ),
        example=ACCUMULATORS.variant("""
      tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd2, %rd3, 0x8040490, %p3;  // expect: TM039

      add.u32 %r14, %r14, %r17;
      shr.u32 %r15, %r6, 1;
      and.b32 %r15, %r15, 1;
-     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];  // expect: TM038
-     tcgen05.wait::ld.sync.aligned;

+     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];
+     tcgen05.wait::ld.sync.aligned;
"""),
        check=of_flaws(Flaw.READ_TOO_EARLY, mechanisms=("tmem",)),
    ),
    # Checks: as TM038, for a write or a deallocation after a write. What one thread issues to the matrix unit is in
    # order.
    # Why: either write may come last, and freed columns may belong to another CTA. Source: PTX ISA §9.7.17.6, 9.7.17.7
    # (deallocation).
    # Not checked: see TM038.
    Rule(
        id="TM040",
        name="tmem-unordered-write-after-write",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §9.7.17.6",
        summary="Tensor memory is written or freed twice, and nothing orders the two.",
        consequence="Either may come last: wrong results, in some runs only.",
        advice=(
            "Wait for the first write to be over (a commit and its mbarrier, or tcgen05.wait::st), and synchronise "
            "before the second."
        ),
        example=ACCUMULATORS.variant("""
      tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd2, %rd3, 0x8040490, %p3;  // expect: TM040

      tcgen05.wait::ld.sync.aligned;
+     tcgen05.st.sync.aligned.32x32b.x1.b32 [%r14], {%r6};
+     tcgen05.wait::st.sync.aligned;

      mbarrier.arrive.shared::cta.b64 _, [%r12];
-     tcgen05.st.sync.aligned.32x32b.x1.b32 [%r14], {%r6};
-     tcgen05.wait::st.sync.aligned;
"""),
        check=of_flaws(Flaw.WRITES_COLLIDE, mechanisms=("tmem",)),
    ),
)
