"""What the words of a verdict mean: kinds of verdicts, what is open, properties, and lines that ask something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..verdict import AssumptionSource, Evidence, Openness, Property, VerdictKind


@dataclass(frozen=True, slots=True)
class Topic:
    """A word, what it means, and what to do about it."""

    name: str
    meaning: str
    advice: str


_VERDICTS: Mapping[VerdictKind, tuple[str, str]] = {
    VerdictKind.PROVED: (
        "It holds in every schedule of the threads, and for every number of rounds of every loop, "
        "under the launch that is named.",
        "Nothing. Look at the launch: another one is another question.",
    ),
    VerdictKind.PROVED_BOUNDED: (
        "It holds in every schedule of the runs that were made. The line `runs` says how often "
        "loops went round in them.",
        "Read which runs were not made (-v). Give sizes that are fixed: --assume n=4096.",
    ),
    VerdictKind.ASSUMES: (
        "It holds if what is listed is true: `if` lines are equations for the host, `taking` lines "
        "are assumptions, and "
        "`holds unless` names values with which it goes wrong.",
        "Check each line against the host code. What is in [give …] states that it is so, and the "
        "line goes away or "
        "becomes a finding. --possible shows the runs that go wrong.",
    ),
    VerdictKind.VIOLATED: (
        "A run that is certainly possible goes wrong. A finding shows it.",
        "Follow the steps of the finding and mend the kernel. `ptxcheck view` lets you step "
        "through it, `ptxcheck fix` "
        "looks for a repair.",
    ),
    VerdictKind.UNKNOWN: (
        "It was neither proved nor refuted: it is `not decided`, or `not judged` behind another failure.",
        "Pass what stands in [give …]. --strict makes the exit code 3.",
    ),
}
_OPEN: Mapping[Openness, tuple[str, str, str]] = {
    Openness.CONDITIONAL: (
        "holds-unless",
        "It goes wrong only for some numbers that the host passes, and nobody knows whether it passes them.",
        "Pass what stands in [give …] if the host never passes such numbers; else mend the kernel. "
        "--possible shows the run.",
    ),
    Openness.NOT_DECIDED: (
        "not-decided",
        "Something was not followed, or a limit was met: the reason says which, and where.",
        "Pass what stands in [give …]. Where nothing does, no option helps: the code itself is not "
        "followed there.",
    ),
    Openness.BEHIND_FAILURE: (
        "not-judged",
        "Another property fails in every schedule in a way that leaves no order to judge this one by. Beside a "
        "hang, properties are judged as far as threads come; where only some schedules fail, for the others.",
        "Mend the other failure first, and check again.",
    ),
}
_PROPERTIES: Mapping[Property, tuple[str, str]] = {
    Property.DATA_RACE: (
        "No two threads of a block access the same bytes of shared memory between two barriers, "
        "one of them writing. Kernels without asynchronous work are judged by it.",
        "Put a barrier between the two accesses.",
    ),
    Property.BARRIER_DIVERGENCE: (
        "All threads of a block that have not ended come to the same barriers, and all lanes that an "
        "instruction of a warp names execute it. Kernels without asynchronous work are judged by it.",
        "Move the barrier out of the branch or the loop.",
    ),
    Property.GLOBAL_ORDER: (
        "What threads read from global memory is in order behind what other CTAs tell them of, what copies "
        "out of the kernel write, and what the kernel in front of a dependent launch writes.",
        "Read the two lines and the flag or counter that tells of them: what is written needs a barrier of the block "
        "and a release (or a fence) of the scope of the GPU in front of it, what is read an acquire behind.",
    ),
    Property.DEADLOCK_FREEDOM: (
        "Every thread ends, in every schedule.",
        "See who waits for what (`role`, `state`), and what would have to happen (`needed`).",
    ),
    Property.PHASE_SAFETY: (
        "Each arrival counts in one phase of its barrier and each wait sees one, the same in every schedule.",
        "Let whoever completes the next phase know that the wait for the last one has passed.",
    ),
    Property.TX_BALANCE: (
        "In each phase, the bytes of all copies onto an mbarrier are the bytes expected.",
        "Compare expect_tx with the sizes of the copies; give boxes with --tensor-map.",
    ),
    Property.LIFECYCLE: (
        "Each mbarrier is initialised once before its uses, and not invalidated or overwritten while in use.",
        "Put a fence and a barrier between initialisation and use.",
    ),
    Property.DESCRIPTOR_LEGALITY: (
        "Every tensor map that the kernel makes or changes is one that the hardware can use.",
        "See `ptxcheck tma explain`.",
    ),
    Property.DESCRIPTOR_RANK: (
        "Copies give as many coordinates as such a map has dimensions, in the mode that it is for.",
        "Compare the copy with the map.",
    ),
    Property.DESCRIPTOR_ORDER: (
        "Every change of a tensor map is ordered before its use, and after the uses before it.",
        "Put fence.proxy.tensormap between the change and the copy.",
    ),
    Property.SLOT_SAFETY: (
        "Two accesses of the same bytes of shared or tensor memory, one of them a write, are "
        "ordered, with a proxy fence "
        "where one is needed.",
        "Put a wait, a barrier or a fence between the two places that the finding names.",
    ),
    Property.EXIT_SAFETY: (
        "No CTA ends while another one still reaches into its shared memory.",
        "Let all CTAs of the cluster meet before they end.",
    ),
    Property.ACCUMULATOR_SAFETY: (
        "Registers of wgmma are read and written only behind a wait that covers the multiplication.",
        "Put wgmma.wait_group in front of the use.",
    ),
    Property.MATRIX_DESCRIPTORS: (
        "Each matrix and instruction descriptor is legal, and the same in the four warps of a wgmma.",
        "Compare the fields that the finding names with the layout of the tile.",
    ),
    Property.COLLECTIVE_EXECUTION: (
        "Instructions of whole warps and warpgroups are executed by them.",
        "Give the block (--launch block=128), or branch for whole warps.",
    ),
    Property.TENSOR_MEMORY_ALLOCATION: (
        "Columns of tensor memory are allocated once, by one warp, in a legal number, and freed in every run.",
        "Pair each allocation with one deallocation in the same warp.",
    ),
    Property.TENSOR_MEMORY_ACCESS: (
        "Loads, stores and operands stay inside the allocation and in the lanes of their warp.",
        "Compare columns and lanes with the allocation.",
    ),
    Property.TENSOR_MEMORY_COMPLETION: (
        "Commits come behind what they are for, and results are used behind their wait.",
        "Commit, and wait for the mbarrier before the result is used.",
    ),
}
_EVIDENCE: Mapping[Evidence, tuple[str, str]] = {
    Evidence.FOR_ALL: (
        "What a verdict is shown by: every schedule and every number of rounds. It may rest on assumptions, "
        "which are listed.",
        "Nothing, but for the assumptions.",
    ),
    Evidence.BOUNDED: (
        "What a verdict is shown by: every schedule of the runs that were made. The line `runs` says which.",
        "Read which runs were not made (-v). Give sizes that are fixed: --assume n=4096.",
    ),
    Evidence.COUNTEREXAMPLE: (
        "What `violated` is shown by: a run that goes wrong, which is a finding.",
        "Follow the steps of the finding and mend the kernel.",
    ),
    Evidence.UNDECIDED: (
        "Nothing shows the property, and nothing refutes it: the reason says what was not followed.",
        "Pass what stands in [give …].",
    ),
}
_SOURCES: Mapping[AssumptionSource, tuple[str, str]] = {
    AssumptionSource.HOST: (
        "An assumption about what the host passes: sizes, trip counts, boxes of tensor maps.",
        "Check the host code, or state it with --assume or --tensor-map.",
    ),
    AssumptionSource.LAUNCH: (
        "An assumption about the launch: the block, the cluster, the grid.",
        "State it with --launch.",
    ),
    AssumptionSource.HARDWARE: (
        "An assumption about the hardware that the words of the PTX ISA do not give, and that released "
        "kernels rely on: a row of the table of axioms.",
        "Nothing for GPUs of today. --pedantic shows the places, each with what PTX asks for.",
    ),
    AssumptionSource.ENVIRONMENT: (
        "An assumption about what memory holds and where indices into it point, which is not followed.",
        "Look at what the kernel and the host write there.",
    ),
}
_LINES: tuple[Topic, ...] = (
    Topic(
        "if",
        "An equation that the host must make true, such as the bytes of a tensor map's box.",
        "Give the numbers with --assume, or the map with --tensor-map: then the equation is checked.",
    ),
    Topic(
        "taking",
        "Something that the verdict takes as true: about the host, the launch, the hardware beyond the "
        "words of the PTX ISA, or the environment. The word in brackets says which.",
        "What is in [give …] states it. What rests on the hardware is shown by --pedantic.",
    ),
    Topic(
        "runs",
        "How many runs were made, and how often loops of open length repeat in them.",
        "Give sizes with --assume to have runs of these sizes.",
    ),
)


def topics() -> tuple[Topic, ...]:
    """Return all topics."""
    return (
        *(Topic(kind.value, *text) for kind, text in _VERDICTS.items()),
        *(Topic(*text) for text in _OPEN.values()),
        *(Topic(which.value, *text) for which, text in _PROPERTIES.items()),
        *(Topic(which.value, *text) for which, text in _EVIDENCE.items()),
        *(Topic(which.value, *text) for which, text in _SOURCES.items()),
        *_LINES,
    )


def topic(name: str) -> Topic | None:
    """Return the topic of a word, written with hyphens or blanks; that of an openness also by "
    "its name in JSON."""
    wanted = name.lower().replace(" ", "-")
    for openness, text in _OPEN.items():
        if wanted == openness.value:
            return Topic(*text)
    return next((each for each in topics() if each.name == wanted), None)
