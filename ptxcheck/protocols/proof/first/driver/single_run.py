"""Single runs of a kernel: all CTAs of a cluster, the protocol of what they did, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from .....launch import GivenValue
from .....terms.effort import Work
from ....contract.first.attempt import Attempt
from ....contract.first.bystanders import Late, judged_without_late, late_bystanders
from ....contract.first.stored_boxes import StoredBoxes
from ....contract.first.stray_strides import Stride, stray_stride
from ....contract.given import with_given
from ....model.actions import Access, Action, Amount, Protocol, Transfer
from ....model.amounts import with_amounts
from ....model.launch_answers import with_refusals
from ....model.lowering import build_protocol
from ....model.lowering_cache import Lowered
from ....model.mechanisms import MEANINGS, changes_no_phase
from ....model.outcome import Outcome, Problem
from ....model.tensor_loads import LoadUses
from ....order.exits import with_stores_left_alone
from ....order.same_instruction_stores import Stores
from ....symex.interpreter.machine import Machine
from ....symex.interpreter.observation import Observation
from ....symex.interpreter.options import Options
from ....symex.slice.layout import Layout
from ....symex.slice.sliced_program import Program
from ....symex.values.solver import SolverOracle
from ....symex.values.symbol import (
    Condition,
    Decisions,
    Form,
    ImpossibleError,
)
from ....symex.values.trace import (
    NotFollowedError,
    OutOfTimeError,
    Peek,
    Shape,
    Trace,
)
from ...coalesced_accesses import examined, without_accesses
from ...search import examine
from ...simulate import simulate
from ..all_sizes import Path, SizePlan
from ..budget import Budget
from ..deciding import Answers, Choose, Question
from ..example_runs import Example
from ..paths import Plan

_STEPS = 400_000
"""Most instructions of the threads of a CTA in one run."""
_STEPS_FROM_NUMBERS = 100_000
"""The same in a run that starts with numbers, which may be any that lead to a side."""

_STEPS_OF_BEGINNING = 10_000
"""The same of threads that stop behind them."""

Failing: TypeAlias = AbstractSet[tuple[int, Peek]]
"""CTA and name of polls that are not repeated and fail in a run."""
AreTold: TypeAlias = Callable[[Sequence[Problem], Path], bool]
"""Tells whether it is known already what goes wrong with accesses in a run with some decisions."""


class Runner:
    """Makes the runs of one kernel for one launch shape.

    A probe judges by what another cluster shape could mend alone, without ordinary accesses.
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        given: Sequence[GivenValue],
        shape: Shape,
        budget: Budget,
        registers: int | None,
        are_told: AreTold,
        *,
        is_probe: bool,
    ) -> None:
        self._program = program
        self._stored = Stores(program.cfg, program.facts).numbers
        self._layout = layout
        self._given = given
        self._shape = shape
        self._budget = budget
        self._registers = registers
        self._are_told = are_told
        self._is_probe = is_probe
        self._lowered = Lowered()
        self._loads = LoadUses(program.cfg)
        self._boxes = StoredBoxes(program, layout)
        self._seen: dict[Protocol, tuple[Protocol, Outcome, Late | None]] = {}
        self.oracle = SolverOracle(budget.effort)
        self.left_out: set[Stride] = set()
        """Strides of arrays: runs are left out in which such a stride is given without its array."""
        self.recorded: set[int] = set()
        """Synchronising instructions that some run came to."""

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Forget what runs come to."""
        recorded = set(self.recorded)
        try:
            yield
        finally:
            self.recorded = recorded

    def attempt(
        self,
        plan: Plan,
        observations: tuple[Observation, ...] = (),
        *,
        failing: Failing | None = frozenset(),
        elects_last: bool = False,
        example: Example | None = None,
    ) -> Attempt:
        """Make a run and judge it (see `trace`)."""
        traces = self.trace(plan, observations, failing=failing, elects_last=elects_last, example=example)
        if example is not None and self._budget.is_late():
            raise OutOfTimeError
        return self._judged(plan, traces)

    def trace(
        self,
        plan: Plan,
        observations: tuple[Observation, ...] = (),
        *,
        failing: Failing | None = frozenset(),
        elects_last: bool = False,
        example: Example | None = None,
        halts: bool = False,
    ) -> tuple[Trace, ...]:
        """Run the CTAs of the cluster, with the decisions of a plan. Raises NotFollowedError, ImpossibleError.

        Polls that are not repeated succeed, as then the wait that follows them otherwise is left out; but those of
        `failing` fail, where that would hang. None: all fail. With `halts`, threads stop where the run may be
        impossible, or has more steps than are followed (see `prefixes`).
        """
        steps = _STEPS_FROM_NUMBERS if plan.preset or plan.is_brief else _STEPS
        steps = min(steps, _STEPS_OF_BEGINNING) if halts else steps
        starts = {plan.size: plan.number} if isinstance(plan, SizePlan) else plan.preset
        if not self._layout.admits(starts):
            raise ImpossibleError
        self.oracle.restart()
        decisions = Decisions(self.oracle)
        answers = Answers(self._choosing(plan), plan.follow, plan.settle, plan.pair, halts=halts)
        for condition, truth in self._layout.stated():
            decisions.assume(condition, truth)
        for name, number in plan.preset.items():
            plan.settle(-1, name, number)
            decisions.assume(Condition("eq", Form(((name, 1),)), number), True)
        machines = (
            Machine(
                self._program,
                self._layout,
                self._shape,
                rank,
                decisions,
                answers,
                Options(
                    budget=steps,
                    effort=self._budget.effort,
                    is_late=self._budget.is_late,
                    took=plan.take if example is None else example.took(rank, plan),
                    peek_fails=lambda peek, rank=rank: failing is None or (rank, peek) in failing,  # type: ignore[misc]
                    observation=observations[rank] if observations else None,
                    elects_last=elects_last,
                    host=None if example is None else example.host,
                ),
            )
            for rank in range(self._shape.ctas)
        )
        try:
            traces = tuple(machine.run() for machine in machines)
        except RecursionError:
            raise NotFollowedError("a value is computed in too many steps to be followed", -1) from None
        plan.came_to = frozenset(event.point for trace in traces for event in trace.events)
        plan.pins = dict(decisions.pins)
        self.recorded |= plan.came_to
        return traces

    def _count(self, protocol: Protocol) -> None:
        """Count what it takes to simulate a protocol."""
        actions = [action for strand in protocol.strands for action in strand.actions]
        spans = sum(
            len(each.reads) + len(each.writes) for each in actions if isinstance(each, Access | Transfer)
        )
        self._budget.effort.spend(Work.ACTION, len(actions) * len(protocol.strands))
        self._budget.effort.spend(Work.SPAN, spans)

    def _is_search_over(self) -> bool:
        """Count a state of a search; tell whether there is effort for no more."""
        self._budget.effort.spend(Work.STATE)
        return self._budget.is_late()

    def _choosing(self, plan: Plan) -> Choose:
        """Return how a plan decides: a run that comes to what is left out ends there. Raises ImpossibleError."""
        if not self.left_out:
            return plan.choose

        def choose(question: Question) -> bool:
            truth = plan.choose(question)
            if stray_stride(plan.answers, self.left_out) is not None:
                raise ImpossibleError
            return truth

        return choose

    def built(self, traces: tuple[Trace, ...]) -> Protocol:
        """Return the protocol of what CTAs did."""
        built = build_protocol(
            self._program.cfg, traces, MEANINGS, self._loads, self._registers, self._lowered, self._stored,
            is_late=self._budget.is_late,
        )  # fmt: skip
        built = with_refusals(built, self._program.cfg, traces, self.oracle.is_possible)
        return self._boxes.told(with_given(built, self._given))

    def _judged(self, plan: Plan, traces: tuple[Trace, ...]) -> Attempt:
        """Return a run with its protocol, and what is wrong with it: of two protocols alike, one is looked at."""
        self._budget.effort.spend(Work.EVENT, sum(len(trace.events) for trace in traces))
        built = self.built(traces)
        judged = self._judged_protocol(built, traces)
        if judged[1].problems or judged[1].equations:
            settled = with_amounts(built, self._settled)
            judged = judged if settled == built else self._judged_protocol(settled, traces)
        return Attempt(plan, traces, *judged)

    def _settled(self, _: Action, amount: Amount) -> Amount:
        """Return the number of bytes that the decisions of a run leave, if it is only one."""
        number = self.oracle.only(amount) if isinstance(amount, Form) else None
        return amount if number is None else number

    def _judged_protocol(
        self, built: Protocol, traces: tuple[Trace, ...]
    ) -> tuple[Protocol, Outcome, Late | None]:
        seen = self._seen.get(built)
        if seen is not None:
            return seen
        self._count(built)
        told: list[Problem] = []
        is_late = self._budget.is_late

        def are_told(problems: Sequence[Problem]) -> bool:
            truth = self._are_told(problems, traces[-1].path)
            told.extend(problems if truth else ())
            return truth

        def judge(protocol: Protocol, *, searches: bool = True) -> Outcome:
            if self._is_probe:
                found = _misfits(protocol, is_late)
            else:
                found = examined(
                    protocol,
                    partial(examine, is_late=self._is_search_over, searches=searches),
                    are_told,
                    is_late,
                )
            return with_stores_left_alone(found, self._program.cfg.instructions)

        # What late warps that only wait cause is left out before a search: it would find that they may be late.
        outcome = judge(built, searches=False)
        rest = None if self._is_probe else judged_without_late(self._program.cfg, built, outcome, judge)
        if outcome.problems and (rest is None or rest[1].problems) and not self._is_probe:
            outcome = judge(built)
            rest = judged_without_late(self._program.cfg, built, outcome, judge)
        judged = (built, outcome, None) if rest is None else (*rest, late_bystanders(built, outcome))
        if not told:
            self._seen[built] = judged
        return judged


def _misfits(protocol: Protocol, is_late: Callable[[], bool]) -> Outcome:
    """Return what goes wrong in one schedule that another cluster shape could mend: no race, and nothing possible."""
    outcome = simulate(without_accesses(protocol), is_late=is_late)
    problems = (p for p in outcome.problems if p.demonstrated and not changes_no_phase(p.flaw))
    return replace(outcome, problems=tuple(problems))
