"""Whole kernels: runs of the machine, their protocols, and what they show together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..cfg.cfg import Cfg
from ..ir import Function, Module
from ..launch import Dim, GivenValue, Launch
from ..op import Op
from ..spec import Trait
from ..verdict import Property, Reason, Verdict, VerdictKind
from . import bulk_copy, mbarrier, named_barrier, tcgen05
from .actions import Protocol
from .cluster_use import uses_cluster
from .given import with_given
from .lowering import Lower, build_protocol
from .machine.accesses import access_kinds
from .machine.execute import Machine
from .machine.layout import Layout, layout_of
from .machine.paths import Coverage, Plan, explore
from .machine.relevant import relevant_points
from .machine.solver import SolverOracle
from .machine.symbol import Decisions
from .machine.trace import Assumption, NotFollowedError, Shape, Trace
from .simulate import Equation, Flaw, Outcome, Problem, simulate

MEANINGS: Mapping[Op, Lower] = {
    **mbarrier.MEANINGS,
    **bulk_copy.MEANINGS,
    **named_barrier.MEANINGS,
    **tcgen05.MEANINGS,
}
"""Every instruction that the protocol of a kernel is made of."""

_TRIPS = (0, 1, 2, 3, 5)
_RUNS_PER_TRIP_COUNT = 24
_CLUSTERS: tuple[Dim, ...] = ((1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1), (4, 1, 1), (8, 1, 1))

PROPERTY_OF: Mapping[Flaw, Property] = {
    Flaw.DEADLOCK: Property.DEADLOCK_FREEDOM,
    Flaw.OVER_ARRIVAL: Property.PHASE_SAFETY,
    Flaw.EARLY_ARRIVAL: Property.PHASE_SAFETY,
    Flaw.MISSED_PHASE: Property.PHASE_SAFETY,
    Flaw.EARLY_WAIT: Property.PHASE_SAFETY,
    Flaw.COUNT_MISMATCH: Property.PHASE_SAFETY,
    Flaw.EARLY_TRANSFER: Property.TX_BALANCE,
    Flaw.LATE_EXPECT: Property.TX_BALANCE,
    Flaw.TX_MISMATCH: Property.TX_BALANCE,
    Flaw.TX_RANGE: Property.TX_BALANCE,
    Flaw.UNINITIALISED: Property.LIFECYCLE,
    Flaw.DOUBLE_INIT: Property.LIFECYCLE,
    Flaw.UNORDERED_INIT: Property.LIFECYCLE,
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run with a problem: what was decided, the protocol, and what went wrong."""

    trips: int
    protocol: Protocol
    traces: tuple[Trace, ...]
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class Verification:
    """What all runs of a kernel showed for one launch shape."""

    shape: Shape | None
    inferred: bool = False
    runs: int = 0
    trips: list[int] = field(default_factory=list)
    """Trip counts of open loops that runs were made for."""
    seconds: float = 0.0
    sample: Run | None = None
    """The run with the most actions, to show; without its traces."""
    failures: list[Run] = field(default_factory=list)
    equations: dict[tuple[str, str], Equation] = field(default_factory=dict)
    assumptions: dict[tuple[str, int], Assumption] = field(default_factory=dict)
    reasons: list[Reason] = field(default_factory=list)

    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict for each property."""
        return tuple(self._verdict(each) for each in PROPERTIES)

    def _verdict(self, which: Property) -> Verdict:
        broken = [p for run in self.failures for p in run.problems if PROPERTY_OF[p.flaw] is which]
        if broken and not self.assumptions and not self.inferred:
            return Verdict(which, VerdictKind.VIOLATED, (Reason(broken[0].detail, broken[0].point),))
        if broken:
            detail = f"{broken[0].detail}; not certain, because of the assumptions listed"
            return Verdict(which, VerdictKind.UNKNOWN, (Reason(detail, broken[0].point),))
        if self.reasons or self.failures:
            first = self.reasons[0] if self.reasons else Reason("another property does not hold", -1)
            return Verdict(which, VerdictKind.UNKNOWN, (first,))
        kind = VerdictKind.ASSUMES if self.equations or self.assumptions or self.inferred else None
        return Verdict(which, kind or VerdictKind.PROVED_BOUNDED, ())


PROPERTIES = (
    Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY, Property.TX_BALANCE, Property.LIFECYCLE,
)  # fmt: skip


def uses_barriers(cfg: Cfg) -> bool:
    """Tell whether there is anything to verify."""
    return any(Trait.MBARRIER in i.operation.traits for i in cfg.instructions)


def verify(
    cfg: Cfg,
    function: Function,
    module: Module,
    launch: Launch,
    *,
    seconds: float = 20.0,
    accesses: bool = False,
) -> Verification:
    """Verify one kernel for its launch, or for the first cluster shape that its counts admit.

    With `accesses`, ordinary accesses of shared memory are recorded too (see `machine.trace`).
    """
    started = time.monotonic()
    block = launch.block or _block(function)
    if block is None:
        return Verification(None, reasons=[Reason("the block size is not known: give it with --launch", -1)])
    if not (launch.block_is_exact or ".reqntid" in function.attributes):
        text = f"the block is taken to have all {block[0] * block[1] * block[2]} threads that it may have"
        taken = {("block", -1): Assumption("block", text, -1)}
    else:
        taken = {}
    known = launch.cluster or _cluster(function)
    best: Verification | None = None
    if known is None and not uses_cluster(cfg):
        known = (1, 1, 1)
    for cluster in [known] if known else _CLUSTERS:
        layout = layout_of(function, module, launch.given)
        shape = Shape(block, cluster)
        result = _Verifier(cfg, layout, launch.given, shape, started + seconds, accesses).run()
        result.assumptions.update(taken)
        result.inferred = known is None and cluster != (1, 1, 1)
        if not result.failures and not result.reasons:
            best = result
            break
        if best is None:
            best = result
            best.inferred = known is None
    assert best is not None
    best.seconds = time.monotonic() - started
    return best


def _block(function: Function) -> Dim | None:
    for keyword in (".reqntid", ".maxntid"):
        given = function.attributes.get(keyword)
        if given:
            return _dim(given)
    return None


def _cluster(function: Function) -> Dim | None:
    given = function.attributes.get(".reqnctapercluster")
    return _dim(given) if given else None


def _dim(numbers: tuple[int, ...]) -> Dim:
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


class _Verifier:
    def __init__(
        self,
        cfg: Cfg,
        layout: Layout,
        given: Sequence[GivenValue],
        shape: Shape,
        deadline: float,
        accesses: bool,
    ) -> None:
        self._cfg = cfg
        self._shape = shape
        self._deadline = deadline
        self._accesses = access_kinds(cfg) if accesses else {}
        self._relevant = relevant_points(cfg, self._accesses)
        self._layout = layout
        self._given = given
        self._result = Verification(shape)
        self._seen: dict[Protocol, Outcome] = {}

    def run(self) -> Verification:
        for trips in _TRIPS:
            self._result.trips.append(trips)
            coverage = Coverage()
            try:
                explore(self._cfg, trips, _RUNS_PER_TRIP_COUNT, self._run, coverage)
            except NotFollowedError as error:
                self._reason(error.reason, error.point)
                break
            self._note_left_out(coverage)
            if self._result.failures:
                break
        return self._result

    def _run(self, plan: Plan) -> bool:
        if time.monotonic() > self._deadline:
            raise NotFollowedError("out of time", -1)
        decisions = Decisions(SolverOracle())
        traces = tuple(
            Machine(
                self._cfg,
                self._relevant,
                self._layout,
                self._shape,
                rank,
                decisions,
                plan.choose,
                accesses=self._accesses,
            ).run()
            for rank in range(self._shape.ctas)
        )
        self._result.runs += 1
        protocol = with_given(build_protocol(self._cfg, traces, MEANINGS), self._given)
        self._keep_sample(plan, protocol)
        outcome = self._seen.get(protocol)
        if outcome is None:
            outcome = self._seen[protocol] = simulate(protocol)
        for equation in outcome.equations:
            self._result.equations.setdefault((str(equation.expected), str(equation.completed)), equation)
        if outcome.problems:
            self._result.failures.append(Run(plan.trips, protocol, traces, outcome.problems))
        for trace in traces:
            for assumption in trace.assumptions:
                self._result.assumptions.setdefault((assumption.kind, assumption.point), assumption)
        return True

    def _keep_sample(self, plan: Plan, protocol: Protocol) -> None:
        kept = self._result.sample
        if kept is None or _actions(protocol) > _actions(kept.protocol):
            self._result.sample = Run(plan.trips, protocol, (), ())

    def _note_left_out(self, coverage: Coverage) -> None:
        for point, _ in sorted(coverage.left_out):
            self._reason(
                "not every combination of branches was run" if point < 0 else "a branch side was not run",
                point,
            )

    def _reason(self, text: str, point: int) -> None:
        reason = Reason(text, point)
        if reason not in self._result.reasons:
            self._result.reasons.append(reason)


def _actions(protocol: Protocol) -> int:
    return sum(len(strand.actions) for strand in protocol.strands)


def show_equations(result: Verification) -> Iterator[str]:
    """Yield the equations that the host must meet."""
    for expected, completed in result.equations:
        yield f"{expected} == {completed}"
