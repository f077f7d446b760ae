"""Rules about named barriers and the cluster barrier, in runs of the whole kernel."""

from ...protocols.model.outcome import Flaw
from ..protocol_kernels import COUNTED, TWO_PHASES
from ..rule import Rule, Severity
from ..violations import of_flaws

RULES = (
    # Checks: runs of the whole kernel, all threads of a CTA or cluster together, in which no thread can go on.
    # Why: the kernel hangs. Two barriers taken in a different order by two roles are a usual cause, and a role that
    # leaves its loop one round earlier than the other.
    # Not checked: see MB020.
    Rule(
        id="NB020",
        name="barrier-never-completes",
        severity=Severity.HANG,
        since="0.2",
        section="PTX ISA §9.7.14.1",
        summary="Threads wait at a named barrier or the cluster barrier for others that never arrive.",
        consequence="The kernel hangs.",
        advice="Let all roles pass the barriers that they share in the same order, and equally often.",
        example=COUNTED.variant("""
      barrier.sync 1, 64;  // expect: NB020

-     barrier.sync 2, 64;
-     barrier.sync 1, 64;
+     barrier.sync 1, 64;  // one
+     barrier.sync 2, 64;  // two
"""),
        check=of_flaws(Flaw.DEADLOCK, but=("mbarrier",)),
    ),
    # Checks: the counts of all instructions that take part in one generation of a barrier in a run, each round apart.
    # NB005 compares the instructions of the kernel without running it.
    # Why: the barrier completes when one of the counts is reached; the others go wrong. Source: PTX ISA §9.7.14.1 (all
    # threads of a generation specify the same number).
    # Not checked: see MB020.
    Rule(
        id="NB021",
        name="conflicting-barrier-thread-counts",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.1",
        summary="Threads that meet at one barrier name different numbers of threads.",
        consequence="Undefined; the kernel hangs, or threads pass too early.",
        advice="Name the same number of threads in every instruction that takes part.",
        example=COUNTED.variant("""
-     barrier.sync 1, 96;  // expect: NB021
+     barrier.sync 1, 64;  // one
"""),
        check=of_flaws(Flaw.COUNT_MISMATCH),
    ),
    # Checks: whether each arrival comes after the completion of the generation before, as far as the thread can know,
    # and that no more threads arrive than the barrier waits for.
    # Why: a warp that arrives twice stands for one that has not come: the others pass too early, and the last one
    # hangs.
    # Not checked: see MB020.
    Rule(
        id="NB022",
        name="premature-barrier-reuse",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.1",
        summary="An arrival at a barrier can count in an earlier generation of it.",
        consequence="Threads pass before all others have come; later ones hang.",
        advice="Let whoever arrives again first wait for the generation before, or use two barriers in turn.",
        example=COUNTED.variant("""
-     barrier.arrive 1, 64;
-     barrier.arrive 1, 64;  // expect: NB022
+     barrier.sync 1, 64;
+     barrier.sync 2, 64;

-     barrier.sync 1, 64;  // expect: NB022
-     barrier.sync 1, 64;
+     barrier.sync 1, 64;  // one
+     barrier.sync 2, 64;  // two
"""),
        check=of_flaws(Flaw.EARLY_ARRIVAL, Flaw.OVER_ARRIVAL, but=("mbarrier",)),
    ),
    # Checks: the mask that each lane names at `bar.warp.sync`, `elect.sync`, `shfl.sync`, `vote.sync`, `match.sync` and
    # `redux.sync`. NB008 compares constant masks with branches, without running the kernel.
    # Why: such a kernel ends with an illegal instruction on an H100, or takes what other lanes never gave. Source: PTX
    # ISA 9.7.9.6, 9.7.14.2, 9.7.14.10 to 15 (undefined unless the executing thread is in its member mask).
    # Not checked: masks that are not known in a run, which is an assumption then; see MB020.
    Rule(
        id="NB023",
        name="lane-not-in-member-mask",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.14.2",
        summary="A lane executes a warp-collective whose member mask does not name it.",
        consequence="Undefined; the kernel ends with an illegal instruction, or goes on with wrong values.",
        advice="Name all lanes that execute the instruction in its mask.",
        example=TWO_PHASES.variant("""
-     bar.warp.sync 0x0000ffff;  // expect: NB023
+     bar.warp.sync 0xffffffff;
      and.b32 %r1, %r0, 31;
=     and.b32 %r1, %r0, 31;
"""),
        check=of_flaws(Flaw.LANE_NOT_IN_MASK),
    ),
)
