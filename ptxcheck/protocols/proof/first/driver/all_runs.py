"""The runs of a kernel for one launch shape, and what they show together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from .....launch import GivenValue
from .....opcodes.op import Op
from .....terms.effort import UNITS_PER_SECOND, Effort
from .....verdict import AssumptionKind, Property, Reason
from ....contract.first.attempt import Attempt
from ....contract.first.certainty import Certainty
from ....contract.first.granted import Granted
from ....contract.first.host_conditions import HostConditions
from ....contract.first.left_out import note_left_out
from ....contract.first.tolerances import Tolerances
from ....model.actions import Protocol
from ....model.bulk_copy import LEAST_BYTES
from ....model.equations import contradicting
from ....model.fences import never_fences
from ....model.mechanisms import changes_no_phase
from ....model.outcome import (
    Equation,
    Flaw,
    Outcome,
    Problem,
    Proviso,
)
from ....product.for_all import Shown
from ....symex.interpreter.observation import Observation, most_rounds
from ....symex.slice.layout import Layout
from ....symex.slice.sliced_program import Program
from ....symex.values.symbol import Atom, ImpossibleError
from ....symex.values.trace import (
    Assumption,
    NotFollowedError,
    OutOfTimeError,
    Peek,
    Shape,
    TooLongError,
)
from ....symex.values.wraparound import may_wrap
from ...evidence import (
    Run,
    Verification,
    only_accesses,
    shown_in,
)
from ...open_waits import take_same_steps
from ..all_sizes import (
    AllSizes,
    OtherDecisionError,
    Path,
    SizePlan,
    size_of,
)
from ..budget import Budget
from ..costly import out_of_effort
from ..late_rounds import repeats
from ..loop_rounds import LATE, LoopRounds
from ..paths import (
    Counts,
    Coverage,
    Plan,
    PlansMade,
    Rounds,
    explore,
)
from ..prefixes import begun, decides_by_shared, stopped
from ..reached import is_reached
from ..witness import inputs_with
from .example_search import ExampleSearch
from .peek_answers import Again, PeekAnswers
from .single_run import Failing, Runner

_ACTIONS = 600
"""Actions of runs that are made for all sizes, for each second that verification may take."""
_MOST_RUNS = 96
_FEWEST_LATE = 32
"""Rounds below which a run is none of many rounds."""
_PART_OF_LATE = 0.2
"""What a run of many rounds may take of the effort for a kernel."""
_PART_OF_ANSWERS, _LEAST_OF_ANSWERS = 0.5, UNITS_PER_SECOND // 2
"""What runs with other answers to polls may take: of the effort of all others, and units besides."""
_MOST_BEGINNINGS = 4
"""Most runs that are made again up to where they may be impossible."""


class Verifier:
    """Makes the runs of a kernel for one launch shape, and notes what they show.

    A probe makes single runs, without ordinary accesses: may another cluster shape do better?
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        given: Sequence[GivenValue],
        shape: Shape,
        effort: Effort,
        registers: int | None,
        *,
        is_probe: bool = False,
    ) -> None:
        self._program = program
        self._cfg = program.cfg
        self._shape = shape
        self._is_probe = is_probe
        self._budget = Budget(effort)
        self._result = result = Verification(shape)
        self._layout = layout
        self._runner = Runner(
            program, layout, given, shape, self._budget, registers, self._are_told, is_probe=is_probe
        )
        self._oracle = self._runner.oracle
        self._certainty = Certainty(program, layout, self._oracle)
        self._granted = Granted(program, result)
        self._tolerances = Tolerances(program, result)
        self._conditions = HostConditions(program, shape, self._oracle, result)
        self._peeks = PeekAnswers(program.peeks, is_probe=is_probe)
        self._examples = ExampleSearch(
            program, layout, shape, self._budget, self._runner, self._peeks, self._certainty, self._granted
        )
        self._rounds = LoopRounds(program)
        self._refused: tuple[Attempt, Failing, Again] | None = None
        """The run with most polls, those that had to fail in it, and how to make it again with others."""
        self._paths: set[Path] = set()
        self._wraps = False
        """Some decision was not on one symbol against a number, where wrap-around does not matter."""
        self._made = PlansMade()
        self._beginnings = _MOST_BEGINNINGS
        """Runs that are still made up to where they may be impossible."""

    def run(self, sizes: Mapping[Atom, int] | None = None) -> Verification:
        """Make runs for all combinations of branches and counts, as far as the effort goes.

        One starts with `sizes`, with which the product of role automata does not show that the kernel holds.
        """
        coverage, result = Coverage(), self._result
        try:
            explore(self._counts(), _MOST_RUNS, self._run, self._oracle, self._budget.is_spent, coverage)
        except _EnoughError:
            pass
        except OutOfTimeError as error:
            longest = None if result.sample is None else result.sample.protocol
            result.reasons.append(out_of_effort(self._cfg, error.point, longest, self._paths))
        except NotFollowedError as error:
            result.note_reason(error.reason, error.point, error.need, error.options)
            result.least_ctas = error.ctas
        else:
            # Of polls that are not repeated, runs take one answer only.
            result.complete = coverage.is_complete and self._is_plain and not self._program.peeks
            self._extend_to_all_sizes(coverage)
        with suppress(_EnoughError):
            self._run_with(sizes or {})
            self._run_late()
        if result.for_all is None:
            self._fail_looks()
            note_left_out(coverage, self._program, self._runner.recorded, self._oracle, result)
        with suppress(_EnoughError):
            self._refuse_in_turns()
        with suppress(_EnoughError):
            self._exemplify(self._conditions.told_alone)
        self._conditions.note_open()
        self._conditions.note_alike()
        self._note_equations()
        self._elect_others()
        self._note_counted_polls()
        return result

    def _note_counted_polls(self) -> None:
        """Note where it decides how often a poll fails: not all numbers are run."""
        for point in sorted(self._program.polls_that_count & self._runner.recorded):
            self._result.note_reason("how often this poll fails decides what threads do", point)

    def show(self, shown: Shown) -> Verification | None:
        """Make a few runs of a kernel that holds for every count, for what they show besides; None if one fails."""
        result = self._result
        for rounds in self._rounds.beside:
            try:
                self._run(Plan(rounds))
            except ImpossibleError:
                continue
            except (_EnoughError, NotFollowedError):
                return None
        with suppress(_EnoughError):
            self._run_with(shown.sizes)
        if result.failures or result.sample is None:
            return None
        result.bounds.clear()
        result.memory_doubts.clear()
        result.reasons.clear()
        self._elect_others()
        result.complete, result.for_all = True, shown.text
        for assumption in shown.assumptions if result.required else (*shown.assumptions, *shown.of_work):
            result.assumptions.setdefault(assumption.key, assumption)
        for equation in shown.equations:
            result.equations.setdefault((str(equation.expected), str(equation.completed)), equation)
        self._note_provisos(shown.provisos)
        for axiom, point in ((axiom, point) for axiom, point in shown.axioms if axiom.is_stated):
            self._tolerances.take(axiom, point, Property.SLOT_SAFETY)
        self._note_equations()
        return result if not result.reasons else None

    def probe(self, rounds: Rounds | None = None) -> int:
        """Make one run: 0 when it holds its contract, else the least number of CTAs that could do better."""
        try:
            self._run(Plan(rounds or self._rounds.first[0]))
        except _EnoughError:
            return 1
        except ImpossibleError:
            return 0
        except NotFollowedError as error:
            return error.ctas or 1
        return 0

    @property
    def is_in_doubt(self) -> bool:
        """What went wrong may be impossible."""
        return any(run.doubt for run in self._result.failures)

    @property
    def _is_plain(self) -> bool:
        return not (self._wraps or self._granted.has_cuts)

    def _counts(self) -> Counts:
        rounds = self._rounds
        return Counts(rounds.first, lambda: rounds.deep(self._runner.recorded), rounds.further)

    def _note_equations(self) -> None:
        """Note where no host can meet the equations of all runs: those that some host makes may not all be in order."""
        equation = contradicting(self._result.equations.values())
        if equation is not None and not self._result.failures:
            text = f"{equation.expected} == {equation.completed} contradicts the bytes of other runs"
            self._result.note_reason(text, -1)

    def _fail_looks(self) -> None:
        """Come to waits that looks ahead have spared in all runs: there all looks fail, though phases are over."""
        spared = self._program.events - self._runner.recorded | self._conditions.excused_alone
        if not self._program.peeks or self._result.failures or not spared:
            return
        try:
            with self._runner.unrecorded():
                attempt = self._runner.attempt(Plan(self._rounds.first[0]), failing=None)
        except (NotFollowedError, ImpossibleError):
            return
        if not attempt.outcome.problems:
            self._runner.recorded |= attempt.plan.came_to
            self._note(attempt)

    def _elect_others(self) -> None:
        """Look whether a kernel that holds goes wrong where `elect.sync` chooses other lanes than in the runs."""
        elections = [
            point
            for point in sorted(self._runner.recorded)
            if self._cfg.instructions[point].operation.op is Op.ELECT_SYNC
        ]
        if not elections or self._result.failures or self._result.reasons:
            return
        try:
            attempt = self._runner.attempt(Plan(self._rounds.first[0]), elects_last=True)
        except (NotFollowedError, ImpossibleError):
            pass
        else:
            if not attempt.outcome.problems:
                return
        text = "elect.sync chooses the lowest lane that takes part"
        elected = Assumption(AssumptionKind.ELECT, text, elections[0])
        self._result.assumptions[elected.key] = elected

    def _extend_to_all_sizes(self, coverage: Coverage) -> None:
        """Look for a reason why what was shown for some trip counts holds for all."""
        result = self._result
        if (
            result.complete
            or result.failures
            or self._program.peeks
            or coverage.settled
            or not self._is_plain
        ):
            return
        size = size_of(self._paths)
        if size is None:
            return

        def execute(plan: SizePlan, observations: tuple[Observation, ...]) -> tuple[Path, Protocol]:
            attempt = self._runner.attempt(plan, observations)
            if plan.settled:
                raise OtherDecisionError
            result.runs += 1
            plan.rounds = Rounds(most_rounds(observations))
            self._note(attempt)
            return attempt.path, attempt.protocol

        most = int(_ACTIONS * self._budget.seconds)
        least = self._layout.least(size)
        sizes = AllSizes(self._program, size, self._shape, execute, self._budget.is_spent, most, least)
        try:
            result.for_all = sizes.prove()
        except (NotFollowedError, ImpossibleError, _EnoughError):
            return
        result.complete = result.for_all is not None

    def _run_with(self, sizes: Mapping[Atom, int]) -> None:
        """Make a run with some parameters: what is not followed in it says nothing of others."""
        if not sizes or self._result.failures or self._is_probe:
            return
        emptied = tuple(name for name, number in sizes.items() if number < 1)
        with self._budget.part(_PART_OF_LATE), suppress(NotFollowedError, ImpossibleError):
            self._run(Plan(self._rounds.first[0], preset=sizes, emptied=emptied))

    def _run_late(self) -> None:
        """Make runs of many rounds where not all counts are shown: a bound hides nothing that shows in them."""
        result = self._result
        for rounds in self._rounds.late:
            if result.complete or result.failures or result.reasons or self._is_probe:
                return
            with self._budget.part(_PART_OF_LATE), suppress(ImpossibleError, OutOfTimeError, TooLongError):
                self._note_late(rounds)

    def _note_late(self, rounds: Rounds) -> None:
        """Note what a run of many rounds shows, if its rounds repeat; else fewer rounds say so."""
        reason: NotFollowedError | None = None
        while max(rounds.inner, rounds.outer or 0) > _FEWEST_LATE:
            try:
                attempt = self._runner.attempt(Plan(rounds))
            except (OutOfTimeError, TooLongError):
                raise
            except NotFollowedError as error:
                reason = error
                rounds = rounds.halved
                continue
            if not repeats(attempt.traces):
                return
            if reason is None:
                self._take(attempt)
                return
            with suppress(ImpossibleError, OutOfTimeError, TooLongError):
                self._take(attempt)
            if not self._result.failures:
                text = f"{reason.reason}, where loops go round {LATE} times"
                self._result.note_reason(text, reason.point)
            return

    def _run(self, plan: Plan) -> bool:
        """Run a plan; False when its decisions are those of an earlier run."""
        if self._budget.is_late():
            raise OutOfTimeError
        if self._made.repeats(plan):
            return False
        try:
            attempt = self._runner.attempt(plan)
        except TooLongError:
            self._note_beginning(plan, frozenset())
            raise
        return self._take(attempt)

    def _take(self, attempt: Attempt) -> bool:
        """Note a run, and others with other answers to its polls; False if its decisions are not new."""
        plan, path = attempt.plan, attempt.path
        if path in self._paths:
            self._made.note(plan)
            return False
        self._wraps |= may_wrap(path)
        self._result.runs += 1
        if plan.rounds.inner not in self._result.trips:
            self._result.trips.append(plan.rounds.inner)

        def again(failing: Failing | None) -> Attempt:
            return self._runner.attempt(plan.again(), failing=failing)

        attempt, failing = self._peeks.settled(attempt, again)
        self._note(attempt)
        self._made.note(plan)
        self._paths.add(path)
        if self._program.peeks and not self._is_probe:
            is_first = self._refused is None
            if self._asks_more(attempt):
                self._refused = attempt, frozenset(failing), again
            if is_first:
                self._refuse(attempt, failing, again)
        return True

    def _asks_more(self, attempt: Attempt) -> bool:
        """Tell whether a run of few rounds has more polls than the one that is made again."""
        if self._refused is None:
            return True
        known = self._refused[0]
        return attempt.plan.rounds in self._rounds.first and _polls(attempt) > _polls(known)

    def _refuse(self, first: Attempt, failing: set[tuple[int, Peek]], again: Again) -> None:
        """Make a run again in which polls that are not repeated fail where they may, and those that have to."""
        last = first
        if not self._budget.is_spent():
            for last in self._peeks.refused(first, failing, again):
                if self._peeks.hung(last):
                    break
                self._note(last)
                if self._budget.is_spent():
                    break
        if not take_same_steps(self._cfg, first.traces, last.traces):
            self._refuse_in_part(failing, again)

    def _refuse_in_turns(self) -> None:
        """Make the run with most polls again, in which some of them fail that may, and others succeed."""
        if self._refused is None or self._result.failures:
            return
        first, needed, again = self._refused
        try:
            self._note_mixed(first, needed, again)
        except ImpossibleError:
            pass
        except NotFollowedError as error:
            text = "not run with all answers of polls that are not repeated: " + error.reason
            self._result.bounds.append(Reason(text, error.point))

    def _note_mixed(self, most: Attempt, needed: Failing, again: Again) -> None:
        enough = self._budget.taken * (1 + _PART_OF_ANSWERS) + _LEAST_OF_ANSWERS
        answers = chain(
            (self._peeks.answered(chosen | needed, again) for chosen in self._peeks.mixed(most)),
            self._peeks.refused(most, set(needed), again),
        )
        while not self._budget.is_spent() and self._budget.taken <= enough:
            attempt = next(answers, None)
            if attempt is None:
                return
            if not self._peeks.hung(attempt):
                self._note(attempt)
        raise OutOfTimeError

    def _refuse_in_part(self, failing: Failing, again: Again) -> None:
        """Make a run again in which polls fail in every other warp, as what warps do depends on the answers."""
        for odd in (True, False):
            chosen = {(cta, peek) for cta, peek in failing if bool(peek[1] // 32 & 1) is odd}
            if self._budget.is_spent() or not chosen or chosen == failing:
                continue
            attempt = again(chosen)
            if not self._peeks.hung(attempt):
                self._note(attempt)

    def _note(self, attempt: Attempt) -> None:
        """Note what a run showed.

        Raises ImpossibleError for one that the host is asked not to make: no side of it was run then.
        """
        plan, outcome = attempt.plan, attempt.outcome
        self._rounds.note(plan, attempt.protocol)
        self._conditions.note(attempt)
        if not isinstance(plan, SizePlan):
            self._keep_sample(attempt)
        if not self._is_probe:
            self._leave_out_stray(attempt)
            self._conditions.leave_out_at_odds(attempt)
            self._conditions.leave_out_unlike(attempt)
        excused = not self._is_probe and self._conditions.excuses(attempt)
        self._note_conditions(outcome, excused=excused)
        self._keep_strict(attempt)
        granted = self._granted.of(attempt, is_in_order=not outcome.problems)
        for assumption in granted:
            if assumption.kind is not AssumptionKind.UNDEFINED:
                self._result.assumptions.setdefault(assumption.key, assumption)
        self._tolerances.note_registers(attempt.protocol)
        self._tolerances.note_ended(attempt.protocol)
        self._tolerances.note_lanes(attempt.traces)
        self._tolerances.note_polls(attempt.protocol, attempt.traces)
        if excused:
            self._conditions.note_excused(attempt)
        elif all(changes_no_phase(problem.flaw) for problem in outcome.problems):
            self._conditions.note_in_order(attempt)
            self._result.note_held(attempt.path, plan.came_to)
        if outcome.problems and not excused:
            self._note_problems(attempt, granted)

    def _note_problems(self, attempt: Attempt, granted: Sequence[Assumption]) -> None:
        """Note a run that goes wrong, which nothing excuses. Raises _EnoughError."""
        plan, outcome = attempt.plan, attempt.outcome
        unfenced = self._is_unfenced(outcome.problems)
        is_known = any(run.is_reached for run in self._result.failures)
        reached = unfenced and not is_known and is_reached(attempt.path, self._oracle)
        is_enough = reached or (unfenced and is_known)
        why = self._certainty.doubt(attempt, () if is_enough else outcome.problems)
        sure = self._certainty.sure(attempt, granted)
        if (why or not sure) and not isinstance(plan, SizePlan) and decides_by_shared(attempt.path):
            self._note_beginning(plan, frozenset(outcome.equations))
        self._note_failure(attempt, why, sure, is_reached=reached)

    def _note_beginning(self, plan: Plan, equations: AbstractSet[Equation]) -> None:
        """Look for what goes wrong in a run, or in others that begin like it, before it may be impossible.

        Or before it has had more steps than are followed. `equations` are those of the whole run.
        """
        if self._is_probe or not self._beginnings:
            return
        self._beginnings -= 1
        again = plan.again()
        try:
            with self._runner.unrecorded():
                traces = self._runner.trace(again, halts=True)
            protocol = stopped(self._runner.built(traces), traces)
            outcome = begun(protocol, traces, equations, self._budget.is_late)
        except (NotFollowedError, ImpossibleError):
            return
        attempt = Attempt(again, traces, protocol, outcome)
        if self._conditions.excuses(attempt) or not outcome.problems:
            return
        why = self._certainty.doubt(attempt, outcome.problems)
        sure = self._certainty.sure(attempt, self._granted.of(attempt, is_in_order=False))
        if sure and not why:
            self._note_failure(attempt, why, sure)

    def _is_unfenced(self, problems: Iterable[Problem]) -> bool:
        """Tell whether a proxy fence is missing in a kernel that has none: no other run would show more."""
        missing = any(problem.flaw is Flaw.MISSING_PROXY_FENCE for problem in problems)
        return missing and never_fences(self._cfg)

    def _are_told(self, problems: Sequence[Problem], path: Path) -> bool:
        """Tell whether earlier runs have shown what goes wrong with accesses in a run, which is no more certain."""
        if not problems or not only_accesses(problems):
            return not problems
        asked = {(problem.flaw, problem.point) for problem in problems}
        failures = self._result.failures
        certain = {(each.flaw, each.point) for run in failures if not run.doubt for each in run.sure}
        return asked <= certain or (
            asked <= shown_in(failures) and bool(self._certainty.doubt_of_path(path, problems))
        )

    def _leave_out_stray(self, attempt: Attempt) -> None:
        """Ask the host for no stride without its array, if a wrong run has one. Raises ImpossibleError then.

        Without the stride the run is made again: it may go wrong all the same.
        """
        stray = self._conditions.stray(attempt, self._paths)
        if stray is None:
            return
        self._runner.left_out.add(stray)
        plan = attempt.plan
        if not isinstance(plan, SizePlan):
            self._run(Plan(plan.rounds, preset={stray[0]: 0}, wanted=dict(plan.answers)))
        raise ImpossibleError

    def _note_conditions(self, outcome: Outcome, *, excused: bool) -> None:
        """Note what a run rests on."""
        result = self._result
        for equation in outcome.equations:
            result.equations.setdefault((str(equation.expected), str(equation.completed)), equation)
        noted = (result.memory_doubts, outcome.memory_doubts), (result.exit_doubts, outcome.exit_doubts)
        for reasons, doubts in () if excused else noted:
            fresh = dict.fromkeys(Reason(doubt.text, doubt.point) for doubt in doubts)
            reasons.extend(reason for reason in fresh if reason not in reasons)
        self._note_provisos(outcome.provisos)

    def _note_provisos(self, provisos: Iterable[Proviso]) -> None:
        """Note facts that a proof rests on, but for sizes that what is known of values makes multiples of 16."""
        for proviso in provisos:
            size = self._cfg.instructions[proviso.point].get("size") if proviso.point >= 0 else None
            if size is not None and self._program.facts.value(proviso.point, size).divisible(LEAST_BYTES):
                continue
            for which in proviso.properties:
                self._result.provisos.setdefault(which, set()).add(proviso)

    def _note_failure(
        self, attempt: Attempt, doubt: str, sure: tuple[Problem, ...], *, is_reached: bool = False
    ) -> None:
        """Keep a run that failed; go on only when what failed leaves the other properties as they are, or is in doubt.

        A probe ends here, as another cluster shape may do better. A run that is certainly possible takes the place of
        those that may not be and show no more. Raises _EnoughError.
        """
        plan, problems = attempt.plan, attempt.outcome.problems
        self._result.note_failed(attempt.path, problems)
        run = Run(
            plan.rounds.inner, attempt.protocol, attempt.traces, problems, doubt, sure, is_reached=is_reached
        )
        failures = self._result.failures
        known = shown_in(each for each in failures if not each.doubt or run.doubt)
        if not shown_in([run]) <= known:
            numbers = {} if run.doubt else {**plan.preset, **inputs_with(attempt.path, self._oracle)}
            self._keep_failure(replace(run, inputs=tuple(numbers.items())))
        goes_on = run.doubt or all(changes_no_phase(problem.flaw) for problem in run.problems)
        if not self._is_probe:
            self._exemplify(shown_in(failures))
        if self._is_probe or not goes_on:
            raise _EnoughError

    def _keep_failure(self, run: Run) -> None:
        """Keep a run that failed, a certain one in place of those in doubt that show no more."""
        failures = self._result.failures
        if not run.doubt:
            failures[:] = [
                each for each in failures if not each.doubt or not shown_in([each]) <= shown_in([run])
            ]
        failures.append(run)

    def _exemplify(self, told: AbstractSet[tuple[Flaw, int]]) -> None:
        """Put a run with numbers in place of those that may be impossible, where it goes wrong in a way that was told.

        Raises _EnoughError where nothing is left to ask.
        """
        found = self._examples.found(told, self._result.failures, self._paths)
        if found is None:
            return
        self._keep_failure(found)
        if not all(changes_no_phase(problem.flaw) for problem in found.sure):
            raise _EnoughError

    def _keep_strict(self, attempt: Attempt) -> None:
        """Keep a run that shows something strict which no earlier one has shown."""
        self._keep_strict_of(attempt, attempt.protocol, attempt.outcome.strict)
        if attempt.late is not None:
            self._keep_strict_of(attempt, attempt.late.protocol, attempt.late.problems)

    def _keep_strict_of(self, attempt: Attempt, protocol: Protocol, problems: Iterable[Problem]) -> None:
        self._tolerances.note_strict(problems)
        known = shown_in(self._result.strict)
        fresh = tuple(p for p in problems if (p.flaw, p.point) not in known)
        if fresh:
            self._result.strict.append(Run(attempt.plan.rounds.inner, protocol, (), fresh))

    def _keep_sample(self, attempt: Attempt) -> None:
        kept = self._result.sample
        if kept is None or _actions(attempt.protocol) > _actions(kept.protocol):
            self._result.sample = Run(attempt.plan.rounds.inner, attempt.protocol, (), ())


class _EnoughError(Exception):
    """A run failed: further runs would tell nothing new."""


def _polls(attempt: Attempt) -> int:
    return sum(len(trace.peeks) for trace in attempt.traces)


def _actions(protocol: Protocol) -> int:
    return sum(len(strand.actions) for strand in protocol.strands)
