"""What the runs of a kernel showed, and the verdicts on its properties.

Property: `violated` needs a schedule that goes wrong in a run that is certainly possible for the launch that was
verified; `proved` needs that no run has a problem, that nothing was left undecided, that the runs cover all paths, and
that nothing was taken for granted.

Argument: each weakening is recorded where it arises and looked at in turn: doubts of a run and what it took for
granted bar `violated`; reasons and doubts about memory bar every good verdict; equations, assumptions, tolerances and
provisos turn it into `assumes`; bounds on loops turn `proved` into `proved-bounded`. What comes behind a failure is
not judged, so one failure makes the other properties unknown, but for accesses and exits, which change no phase.

Not covered: whether the record is complete; who follows the kernel has to note what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ...launch import BlockOrigin
from ...verdict import (
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from ..model.actions import Access, Protocol
from ..model.mechanisms import PROPERTY_OF
from ..model.outcome import Equation, Flaw, Problem
from ..model.sync_objects import NamedBarrier
from ..symex.values.approximated_terms import zeros
from ..symex.values.symbol import Atom, show_parameter
from ..symex.values.trace import Assumption, Shape, Trace

_MOST_SHOWN = 4
BLOCK = ("block", -1)
"""Key of the assumption that the block is the largest that is allowed."""
ELECT = "elect"
"""In keys of assumptions about the lane that `elect.sync` chooses."""
SEPARATE = frozenset({Property.SLOT_SAFETY, Property.EXIT_SAFETY})
"""Properties whose failure changes no phase: the others are decided all the same."""

PROPERTIES = (
    Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY, Property.TX_BALANCE, Property.LIFECYCLE,
    Property.SLOT_SAFETY, Property.EXIT_SAFETY,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One run with a problem: what was decided, the protocol, and what went wrong."""

    trips: int
    protocol: Protocol
    traces: tuple[Trace, ...]
    problems: tuple[Problem, ...]
    doubt: str = ""
    """Why there may be no such run, or "" when its path is surely possible."""
    sure: tuple[Problem, ...] = ()
    """Problems that a schedule shows whatever the machine took for granted elsewhere."""
    inputs: tuple[tuple[Atom, int], ...] = ()
    """Numbers that make it: parameters, what lies in global memory, and the place in the grid; () if none are known."""
    is_reached: bool = False
    """Threads surely come to all that the run does, though perhaps with other parameters than a host would pass."""


@dataclass(slots=True)
class Verification:
    """What all runs of a kernel showed for one launch shape."""

    shape: Shape | None
    block_origin: BlockOrigin = BlockOrigin.STATED
    suggested_blocks: tuple[int, ...] = ()
    """Threads of the blocks that the code suggests, where nothing else says anything; each was tried."""
    inferred: bool = False
    runs: int = 0
    trips: list[int] = field(default_factory=list)
    """Trip counts of open loops that runs were made for."""
    seconds: float = 0.0
    sample: Run | None = None
    """The run with the most actions, to show; without its traces."""
    failures: list[Run] = field(default_factory=list)
    strict: list[Run] = field(default_factory=list)
    """Runs with what the PTX ISA forbids and released libraries rely on: for pedantic rules."""
    equations: dict[tuple[str, str], Equation] = field(default_factory=dict)
    assumptions: dict[tuple[str, int], Assumption] = field(default_factory=dict)
    required: dict[tuple[str, int], Assumption] = field(default_factory=dict)
    """What sizes and strides have to be, because the kernel goes wrong where there is nothing to do or to read."""
    tolerated: dict[Property, dict[str, Assumption]] = field(default_factory=dict)
    """What released libraries rely on, though the PTX ISA does not give it."""
    reasons: list[Reason] = field(default_factory=list)
    """Why something was not decided: bars every good verdict."""
    least_ctas: int = 0
    """CTAs that the cluster must have for a run to go on that was not followed; 0 when that was not the trouble."""
    is_admitted: bool = True
    """The launch was given, or is one with which a run keeps its contract but for accesses of shared memory."""
    never_fences: bool = False
    """No instruction of the kernel is a proxy fence of shared memory."""
    complete: bool = False
    """True when every path of the kernel was run: no count bounded a loop, no combination was left out."""
    in_order: set[int] = field(default_factory=set)
    """Synchronising instructions and accesses that a run with work in all sizes came to, in order but perhaps for
    accesses."""
    for_all: str | None = None
    """Why what runs for some sizes showed holds for all, None when they are all that was shown."""
    bounds: list[Reason] = field(default_factory=list)
    """What the runs do not cover, beyond trip counts: bars `proved`."""
    memory_doubts: list[Reason] = field(default_factory=list)
    """Why the absence of races on shared memory is not proved."""
    provisos: set[str] = field(default_factory=set)
    """Facts about extents that a proof of slot safety rests on."""

    def note_reason(self, text: str, point: int) -> None:
        """Note once why something was not decided."""
        reason = Reason(text, point)
        if reason not in self.reasons:
            self.reasons.append(reason)

    def covers(self, point: int) -> bool:
        """Tell whether the runs are all that there are, and some of them executed a point and were in order."""
        return self.complete and point in self.in_order

    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict for each property."""
        return tuple(self._verdict(each) for each in PROPERTIES)

    def _verdict(self, which: Property) -> Verdict:
        broken = [p for run in self.failures for p in run.problems if PROPERTY_OF[p.flaw] is which]
        shown = [p for p in broken if p.demonstrated]
        doubts = [
            run.doubt
            for run in self.failures
            if run.doubt and any(PROPERTY_OF[p.flaw] is which for p in run.problems)
        ]
        certain = next(
            (
                p
                for run in self.failures
                for p in run.problems
                if PROPERTY_OF[p.flaw] is which and self.is_sure(run, p)
            ),
            None,
        )
        if certain is not None:
            return Verdict(which, VerdictKind.VIOLATED, (Reason(certain.detail, certain.point),))
        if shown and doubts:
            detail = f"{shown[0].detail}{self._where(shown[0])}; {doubts[0]}"
            return Verdict(which, VerdictKind.UNKNOWN, (Reason(detail, shown[0].point),))
        if broken and not shown:
            detail = f"{broken[0].detail}; no schedule was found that goes wrong"
            return Verdict(which, VerdictKind.UNKNOWN, (Reason(detail, broken[0].point),))
        if broken:
            detail = (
                f"{broken[0].detail}{self._where(broken[0])}; not certain, because of the assumptions listed"
            )
            return Verdict(which, VerdictKind.UNKNOWN, (Reason(detail, broken[0].point),))
        if self.reasons or self._has_spread():
            first = self.reasons[0] if self.reasons else Reason("another property does not hold", -1)
            return Verdict(which, VerdictKind.UNKNOWN, (first,))
        if which is Property.SLOT_SAFETY and self.memory_doubts:
            return Verdict(which, VerdictKind.UNKNOWN, (self.memory_doubts[0],))
        provisos = which is Property.SLOT_SAFETY and self.provisos
        taken = (
            self.equations
            or self.assumptions
            or self.required
            or self.tolerated.get(which)
            or self.inferred
            or provisos
        )
        kind = VerdictKind.ASSUMES if taken else None
        if kind is None and self.complete:
            kind = VerdictKind.PROVED
        notes = tuple(self.bounds) if self.for_all is None else (Reason(self.for_all, -1),)
        return Verdict(which, kind or VerdictKind.PROVED_BOUNDED, notes)

    def is_sure(self, run: Run, problem: Problem) -> bool:
        """Tell whether a run with a problem is certainly possible, for the launch that was verified.

        A block that `.maxntid` bounds is taken to be launched whole: the author wrote the number, and the finding
        names it. A cluster that nothing states is not.
        In a kernel without any proxy fence, neither the launch nor what roles read from shared memory can put one
        between two accesses: that they come one after the other is all that it takes. This is said of ordinary stores
        alone, as released kernels multiply what `cp.async` has brought without a fence.
        """
        never_fenced = self.never_fences and problem.flaw is Flaw.MISSING_PROXY_FENCE
        if run.doubt and not (run.is_reached and never_fenced):
            return False
        if never_fenced and problem.demonstrated:
            return any(_is_ordinary(run.protocol, *earlier) for earlier in problem.related)
        is_alone = self.shape is not None and self.shape.ctas == 1 and self.is_admitted
        is_meant = not self.inferred or is_alone
        return problem in run.sure and (not self.inferred or (is_meant and only_accesses(run.problems)))

    def _where(self, problem: Problem) -> str:
        """Return which parameters are zero, and which are not, in the run that shows a problem."""
        run = next(run for run in self.failures if problem in run.problems)
        facts = islice(zeros(run.traces[-1].path).items(), _MOST_SHOWN)
        shown = [f"{show_parameter(name)} is {'' if is_zero else 'not '}0" for name, is_zero in facts]
        return f" (where {' and '.join(shown)})" if shown else ""

    def _has_spread(self) -> bool:
        """Tell whether a run went wrong in a way that says nothing of what comes after."""
        return any(PROPERTY_OF[p.flaw] not in SEPARATE for run in self.failures for p in run.problems)


def shown_in(runs: Iterable[Run]) -> set[tuple[Flaw, int]]:
    """Return what goes wrong in some runs, and where."""
    return {(problem.flaw, problem.point) for run in runs for problem in run.problems}


def only_accesses(problems: Sequence[Problem]) -> bool:
    """Tell whether a run goes wrong in accesses alone: then all roles agree about the work, as the launch meant it.

    So does one where arrivals at a named barrier, whose count the text gives, let accesses pass each other.
    """
    accesses = [problem for problem in problems if PROPERTY_OF[problem.flaw] is Property.SLOT_SAFETY]
    return len(accesses) == len(problems) or (
        any(problem.demonstrated for problem in accesses)
        and all(is_of_named_barrier(problem) for problem in problems if problem not in accesses)
    )


def is_of_named_barrier(problem: Problem) -> bool:
    """Tell whether an arrival at a named barrier counts in a phase that depends on the schedule."""
    return problem.flaw is Flaw.EARLY_ARRIVAL and isinstance(problem.barrier, NamedBarrier)


def _is_ordinary(protocol: Protocol, strand: int, point: int) -> bool:
    """Tell whether a point of a strand accesses shared memory itself and at once."""
    return any(isinstance(each, Access) and each.point == point for each in protocol.strands[strand].actions)


def show_equations(result: Verification) -> Iterator[str]:
    """Yield the equations that the host must meet."""
    for expected, completed in result.equations:
        yield f"{expected} == {completed}"
