"""What the runs of a kernel showed, and the verdicts on its properties.

Property: `violated` needs a schedule that goes wrong in a run that is certainly possible for the launch that was
verified; `proved` needs that no run has a problem, that nothing was left undecided, that the runs cover all paths, and
that nothing was taken for granted.

Argument: each weakening is recorded where it arises and looked at in turn: doubts of a run and what it took for
granted bar `violated`; reasons and doubts about memory bar every good verdict; equations, assumptions, tolerances and
provisos turn it into `assumes`; bounds on loops turn `proved` into `proved-bounded`. Each property is judged on its
own. Failures of accesses and exits change no phase. Where threads only hang, all that happens before is the same in
every schedule, so the others hold as far as threads come. Any other failure leaves no order to judge by: what comes
behind it is unknown. A property that goes wrong only in runs of which nobody knows whether the host asks for them
holds unless a fact that all of them need, and that an orderly run to the same place does without.

Not covered: whether the record is complete; who follows the kernel has to note what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ...launch import BlockOrigin
from ...verdict import (
    EVIDENCE_OF,
    AssumptionKind,
    AssumptionSource,
    Need,
    Openness,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from ..model.actions import Access, Protocol
from ..model.mechanisms import PROPERTY_OF, SEPARATE, changes_no_phase
from ..model.outcome import Equation, Flaw, Hang, Problem, Proviso
from ..model.sync_objects import NamedBarrier
from ..symex.values.approximated_terms import numbers_wanted, zeros
from ..symex.values.symbol import Atom, Condition, show_parameter
from ..symex.values.trace import Assumption, AssumptionKey, Shape, Trace

_MOST_SHOWN = 4
BLOCK = (AssumptionKind.BLOCK, -1, "")
"""Key of the assumption that the block is the largest that is allowed."""
_UP_TO_A_HANG = Reason("as far as threads come before the hang: what would come behind it is not judged", -1)
_IN_ORDER = Reason("in schedules in which actions count in the phases that they are meant for", -1)
_BEHIND = Reason("another property fails in a way that leaves no order to judge this one by", -1)
_ONLY_AT_THE_END = Reason("judged where all threads end, and some hang", -1)
_BYTES_LACK = Reason("the phase that never completes lacks bytes", -1)

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


@dataclass(frozen=True, slots=True)
class Held:
    """A run that is in order, but perhaps for accesses: what it came to, and which parameters are zero in it."""

    points: frozenset[int]
    zeros: tuple[tuple[Atom, bool], ...]


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
    """Effort that was spent (see `terms.effort`)."""
    sample: Run | None = None
    """The run with the most actions, to show; without its traces."""
    failures: list[Run] = field(default_factory=list)
    held: set[Held] = field(default_factory=set)
    failed: dict[tuple[Flaw, int], list[Mapping[Atom, bool]]] = field(default_factory=dict)
    """Of each way to go wrong, which parameters are zero in the runs that do: in each of them, kept or not."""
    strict: list[Run] = field(default_factory=list)
    """Runs with what the PTX ISA forbids and released libraries rely on: for pedantic rules."""
    equations: dict[tuple[str, str], Equation] = field(default_factory=dict)
    assumptions: dict[AssumptionKey, Assumption] = field(default_factory=dict)
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
    exit_doubts: list[Reason] = field(default_factory=list)
    """Why it is not proved that nothing reaches into the shared memory of a CTA that has ended."""
    provisos: dict[Property, set[Proviso]] = field(default_factory=dict)
    """Facts about extents that proofs of properties rest on."""

    def note_held(self, path: Iterable[tuple[Condition, bool]], points: frozenset[int]) -> None:
        """Note a run that is in order, but perhaps for accesses."""
        known = zeros(path)
        if known:
            self.held.add(Held(points, tuple(known.items())))

    def note_failed(self, path: Iterable[tuple[Condition, bool]], problems: Iterable[Problem]) -> None:
        """Note for which parameters a run goes wrong."""
        known = zeros(path)
        for problem in problems:
            told = self.failed.setdefault((problem.flaw, problem.point), [])
            if known not in told:
                told.append(known)

    def note_reason(
        self, text: str, point: int, need: Need = Need.NOTHING, options: tuple[str, ...] = ()
    ) -> None:
        """Note once why something was not decided, and what of the user's would decide it."""
        reason = Reason(text, point, need, options)
        if reason not in self.reasons:
            self.reasons.append(reason)

    def covers(self, point: int) -> bool:
        """Tell whether the runs are all that there are, and some of them executed a point and were in order."""
        return self.complete and point in self.in_order

    def verdicts(self, told: Sequence[Problem] | None = None) -> tuple[Verdict, ...]:
        """Return a verdict for each property.

        One is `violated` by the first of the problems that are `told`, which are certain: all that are, if not given.
        """
        if told is None:
            told = [
                problem for run in self.failures for problem in run.problems if self.is_sure(run, problem)
            ]
        by_property = {PROPERTY_OF[problem.flaw]: problem for problem in reversed(told)}
        return tuple(self._verdict(each, by_property.get(each)) for each in PROPERTIES)

    def _verdict(self, which: Property, certain: Problem | None) -> Verdict:
        if certain is not None:
            reason = Reason(certain.detail, certain.point)
            launch = (self.reason_of(each) for key, each in self.assumptions.items() if key == BLOCK)
            return Verdict(which, VerdictKind.VIOLATED, (reason,), assumptions=tuple(launch))
        broken = [
            (run, problem)
            for run in self.failures
            for problem in run.problems
            if PROPERTY_OF[problem.flaw] is which
        ]
        spread = [each for each in self._spread() if each not in broken]
        excuses = [self._unless(*each) for each in broken]
        if broken and (self.reasons or not all(excuses)):
            return Verdict(which, VerdictKind.UNKNOWN, (self._in_doubt(broken),))
        if self.reasons:
            return Verdict(which, VerdictKind.UNKNOWN, (self.reasons[0],))
        open_ones = [problem for run, problem in spread if self._unless(run, problem) is None]
        excuses += [self._unless(*each) for each in spread]
        unless = tuple(dict.fromkeys(each for each in excuses if each is not None))
        behind = _behind(which, open_ones)
        if behind is not None:
            return Verdict(which, VerdictKind.UNKNOWN, (behind,), Openness.BEHIND_FAILURE)
        doubts = {Property.SLOT_SAFETY: self.memory_doubts, Property.EXIT_SAFETY: self.exit_doubts}.get(which)
        if doubts:
            return Verdict(which, VerdictKind.UNKNOWN, (doubts[0],))
        return self._holds(which, unless, open_ones)

    def _holds(self, which: Property, unless: tuple[Reason, ...], beside: Sequence[Problem]) -> Verdict:
        """Return the verdict on a property that no run breaks, but perhaps for values that the host is not to pass.

        `beside` are failures of other properties, behind which it is judged as far as they leave an order.
        """
        is_conditional = bool(unless or self.equations or self.required)
        taken = tuple(self._taken_for(which))
        is_complete = self.complete and not beside
        kind = VerdictKind.PROVED if is_complete else VerdictKind.PROVED_BOUNDED
        notes = tuple(self.bounds) if self.for_all is None else (Reason(self.for_all, -1),)
        if any(problem.elsewhere for problem in beside):
            notes = (_IN_ORDER, *notes)
        if not all(problem.elsewhere for problem in beside):
            notes = (_UP_TO_A_HANG, *notes)
        return Verdict(
            which,
            VerdictKind.ASSUMES if taken or unless else kind,
            (*unless, *notes),
            Openness.CONDITIONAL if is_conditional else None,
            EVIDENCE_OF[kind],
            taken,
        )

    def _taken_for(self, which: Property) -> Iterator[Reason]:
        """Yield what a property that no run breaks rests on: what the host is asked first."""
        for equation in show_equations(self):
            yield Reason(equation, -1, source=AssumptionSource.HOST)
        yield from map(self.reason_of, self.required.values())
        if self.inferred and self.shape is not None:
            cluster = "x".join(map(str, self.shape.cluster))
            text = f"the cluster is taken to be {cluster}, which nothing states"
            yield Reason(text, -1, Need.CLUSTER, (f"cluster={cluster}",), AssumptionSource.LAUNCH)
        yield from map(self.reason_of, self.assumptions.values())
        yield from map(self.reason_of, self.tolerated.get(which, {}).values())
        provisos = sorted(self.provisos.get(which, ()), key=lambda each: each.text)
        yield from (Reason(each.text, -1, source=each.source) for each in provisos)

    def reason_of(self, assumption: Assumption) -> Reason:
        """Return an assumption with its source, and with what would state it."""
        source = assumption.kind.source
        if assumption.key == BLOCK and self.shape is not None:
            block = "x".join(map(str, self.shape.block))
            return Reason(assumption.text, assumption.point, Need.BLOCK, (f"block={block}",), source)
        need = Need.VALUES if assumption.options else Need.NOTHING
        return Reason(assumption.text, assumption.point, need, assumption.options, source)

    def _in_doubt(self, broken: Sequence[tuple[Run, Problem]]) -> Reason:
        """Return what may go wrong with a property, and why that is not certain."""
        run, problem = next((each for each in broken if each[1].demonstrated), broken[0])
        if not problem.demonstrated:
            return Reason(f"{problem.detail}; no schedule was found that goes wrong", problem.point)
        why = next((each.doubt for each, _ in broken if each.doubt), "")
        why = why or "not certain, because of the assumptions listed"
        options = _numbers_wanted(run) if run.traces else ()
        need = Need.VALUES if options else Need.NOTHING
        return Reason(f"{problem.detail}{self._where(problem)}; {why}", problem.point, need, options)

    def _unless(self, run: Run, problem: Problem) -> Reason | None:
        """Return what the host must not pass for runs to keep their contract; None where nothing excuses them.

        Exploration went on behind them, so all others are known; and some of these came to the same place with other
        parameters. Of accesses not all runs are known that go wrong.
        """
        is_access = PROPERTY_OF[problem.flaw] in SEPARATE or is_of_named_barrier(problem)
        if not run.doubt or self.inferred or is_access:
            return None
        others = [held.zeros for held in self.held if problem.point in held.points]
        asked: dict[str, str] = {}
        for facts in self.failed.get((problem.flaw, problem.point), ()):
            denied = [name for each in others for name, truth in each if facts.get(name, truth) is not truth]
            if not denied:
                return None
            named = {name: facts[name] for name in sorted(facts, key=lambda name: name not in denied)}
            first, is_zero = next(iter(named.items()))
            asked[_facts(named)] = f"{show_parameter(first)}{' >= 1' if is_zero else '=0'}"
        if not asked:
            return None
        text = f"holds unless {', or '.join(asked)}: then, {problem.detail}"
        options = tuple(dict.fromkeys(asked.values()))
        return Reason(text, problem.point, Need.VALUES, options, AssumptionSource.HOST)

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
        shown = _facts(zeros(run.traces[-1].path))
        return f" (where {shown})" if shown else ""

    @property
    def stops_early(self) -> bool:
        """Tell whether some run goes wrong in a way that says nothing of what comes after."""
        return bool(self._spread())

    def _spread(self) -> list[tuple[Run, Problem]]:
        """Return what went wrong in a way that says nothing of what comes after."""
        return [
            (run, problem)
            for run in self.failures
            for problem in run.problems
            if not changes_no_phase(problem.flaw)
        ]


def _behind(which: Property, spread: Sequence[Problem]) -> Reason | None:
    """Return why a property is not judged beside failures of others; None where it is."""
    if any(problem.hang is None and not problem.elsewhere for problem in spread):
        return _BEHIND
    if which is Property.EXIT_SAFETY and not all(problem.elsewhere for problem in spread):
        return _ONLY_AT_THE_END
    lacks_bytes = any(problem.hang is Hang.BYTES for problem in spread)
    return _BYTES_LACK if which is Property.TX_BALANCE and lacks_bytes else None


def _facts(known: Mapping[Atom, bool]) -> str:
    """Return which parameters are zero, and which are not: the first of them."""
    facts = islice(known.items(), _MOST_SHOWN)
    return " and ".join(f"{show_parameter(name)} is {'' if is_zero else 'not '}0" for name, is_zero in facts)


def _numbers_wanted(run: Run) -> tuple[str, ...]:
    """Return what `--assume` would say of the parameters that a run decides by, the first of them."""
    path = run.traces[-1].path
    return numbers_wanted(tuple(condition.form.terms for condition, _ in path))[:_MOST_SHOWN]


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
