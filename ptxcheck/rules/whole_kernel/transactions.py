"""Rules about the bytes that asynchronous copies and threads count on mbarriers, in runs of the whole kernel."""

from ...explain.violations import Cause
from ...protocols.model.outcome import Flaw
from ..protocol_kernels import RING
from ..rule import Rule, Severity
from ..violations import of_flaws

RULES = (
    # Checks: for each phase in a run, the bytes of all `expect_tx` against the bytes of all copies onto the mbarrier,
    # of all threads and CTAs. Bytes that depend on tensor maps or parameters give an equation of the contract instead,
    # which is checked when values are given (`--assume`).
    # Why: a phase completes when its arrivals have come and its byte count is zero, neither above nor below.
    # Not checked: see MB020.
    Rule(
        id="TX001",
        name="tx-count-mismatch",
        severity=Severity.HANG,
        since="0.2",
        section="PTX ISA §9.7.14.16.8",
        summary="The bytes that complete in a phase of an mbarrier are not the bytes that are expected.",
        consequence="The phase never completes, and the kernel hangs; or it completes before the data has come.",
        advice="Make the expected bytes the sum of the boxes of all copies of the phase, those of other CTAs included.",
        example=RING.variant("""
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 2048;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;

      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;  // expect: TX001
"""),
        check=of_flaws(Flaw.TX_MISMATCH, Flaw.DEADLOCK, mechanisms=("mbarrier",), cause=Cause.BYTES),
    ),
    # Checks: the sum of all `expect_tx` of a phase in a run. MB009 checks single instructions.
    # Why: the byte count of a phase goes from -(2^20-1) to 2^20-1.
    # Not checked: see MB020.
    Rule(
        id="TX002",
        name="tx-count-out-of-range",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.3",
        summary="More than 1048575 bytes are expected in one phase of an mbarrier.",
        consequence="Undefined; the count wraps, and the phase completes at the wrong time or never.",
        advice="Use a second mbarrier, or several phases, for so many bytes.",
        example=RING.variant("""
-     mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r8], 1048000;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;  // expect: TX002
"""),
        check=of_flaws(Flaw.TX_RANGE),
    ),
    # Checks: whether each copy onto an mbarrier is started after the completion of the phase before, as far as the
    # thread that starts it can know.
    # Why: bytes of the next round end the phase of this one, and its own bytes are missing later. The copy also writes
    # a stage that is still being read. Source: PTX ISA §9.7.14.16.5.1, 9.7.14.16.8.
    # Not checked: see MB020.
    Rule(
        id="TX003",
        name="copy-in-earlier-phase",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.16.5.1",
        summary="A copy is started before the phase before its own is known to be complete.",
        consequence="Its bytes can count in the wrong phase: data is read before it has come, or the kernel hangs.",
        advice="Wait until the stage is free (its `empty` barrier) before starting the next copy into it.",
        example=RING.variant("""
+ WAIT_EMPTY:
+     mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r12;
+     @!%p3 bra WAIT_EMPTY;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 1024, [%r8];  // expect: TX003
"""),
        check=of_flaws(Flaw.EARLY_TRANSFER),
    ),
    # Checks: whether some arrival of the phase comes after each `expect_tx`, so that the phase cannot complete before
    # it.
    # Why: with all arrivals in and a byte count of zero, the phase completes; the bytes then count in the next one.
    # Source: PTX ISA §9.7.14.16.6, 9.7.14.16.8.
    # Not checked: see MB020.
    Rule(
        id="TX004",
        name="expect-tx-after-last-arrival",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §9.7.14.16.6",
        summary="Bytes are expected after the last arrival of the phase.",
        consequence="The phase can complete before the copy has brought anything, and the data is read too early.",
        advice="Expect the bytes before arriving, or use `mbarrier.arrive.expect_tx`.",
        example=RING.variant("""
=     mbarrier.init.shared::cta.b64 [full], 1;
=     mbarrier.init.shared::cta.b64 [full+8], 1;
      mbarrier.init.shared::cta.b64 [full], 2;
      mbarrier.init.shared::cta.b64 [full+8], 2;

-     mbarrier.arrive.shared::cta.b64 _, [%r8];
-     mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r8], 1024;  // expect: TX004
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;

=     add.u32 %r14, %r4, %r14;
=     shr.u32 %r11, %r5, 1;
=     and.b32 %r11, %r11, 1;
      add.u32 %r14, %r4, %r14;
      shr.u32 %r11, %r5, 1;
      and.b32 %r11, %r11, 1;
      setp.ne.u32 %p5, %r0, 32;
      @!%p5 mbarrier.arrive.shared::cta.b64 _, [%r8];
"""),
        check=of_flaws(Flaw.LATE_EXPECT),
    ),
)
