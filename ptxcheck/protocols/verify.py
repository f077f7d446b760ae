"""Whole kernels: runs of the machine, their protocols, and what they show together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from typing import TypeAlias

from ..cfg.cfg import Cfg
from ..cfg.special import MAX_THREADS
from ..ir import Function, Module
from ..launch import Dim, GivenValue, Launch
from ..op import Op
from ..spec import Trait
from ..verdict import Property, Reason
from .actions import Protocol
from .all_sizes import AllSizes, OtherDecisionError, Path, SizePlan, size_of
from .cluster_choice import MOST_CTAS, admitted_cluster, shapes_to_try
from .cluster_use import uses_cluster
from .coarse import examined, without_accesses
from .empty_code import EmptyCode
from .equations import contradicting
from .example_evidence import unrelated
from .example_runs import Example, ExampleRun, Hosts, examples, varied_examples
from .exits import with_copies_left_alone
from .fences import is_proxy_fence
from .given import with_given
from .handed_numbers import always_seen, handed_on, is_seen, replaced
from .handed_turns import Turns, are_turns_seen, turns_of
from .lane_order import taken_to_be_in_step
from .loop_rounds import LoopRounds
from .lowered import Lowered
from .lowering import build_protocol
from .machine.doubt import (
    compared_sizes,
    doubt_of,
    empty_sizes,
    related_loop,
    rests_on_loops,
    sources_of,
    within_grid,
)
from .machine.endless import POLLED, endless_loops, polling_loops
from .machine.execute import Choose, Machine, Question
from .machine.host_counts import is_up_to_host
from .machine.layout import Layout, layout_of
from .machine.observation import Observation, most_rounds
from .machine.parameter_kinds import ParameterKinds, parameter_kinds
from .machine.paths import Counts, Coverage, Plan, PlansMade, Rounds, Side, explore
from .machine.program import Program
from .machine.reached import is_reached
from .machine.solver import SolverOracle
from .machine.symbol import Atom, Condition, Decisions, Form, ImpossibleError, show_atom, show_parameter
from .machine.trace import (
    GLOBAL_LOAD,
    GLOBAL_SCALE,
    SHARED_LOAD,
    SHARED_RING,
    SHARED_TABLE,
    Assumption,
    NotFollowedError,
    Peek,
    Shape,
    Trace,
)
from .machine.whole_clusters import WHOLE_CLUSTERS, Ways
from .machine.witness import inputs_with, is_realised
from .machine.wrapping import CUT, may_wrap
from .meanings import MEANINGS, PROPERTY_OF
from .open_waits import do_alike, open_waits
from .outcome import Doubt, Flaw, Outcome, Problem
from .partner_loops import PartnerLoops
from .prefixes import begun, decides_by_shared, stopped
from .read_values import Answers, are_possible
from .registers import changed_apart
from .same_values import collisions, stored_together, uniform_stores
from .search import examine
from .simulate import simulate
from .spare_ctas import spare_cta
from .stored_boxes import StoredBoxes
from .stray_strides import Stride, stray_stride, strides_in
from .tensor_loads import LoadUses
from .thread.register_count import most_registers
from .verification import BLOCK, ELECT, SEPARATE, Run, Verification, only_accesses

_EFFORT = 600
"""Actions of runs that are made for all sizes, for each second that verification may take."""
_MOST_RUNS = 96
_STEPS = 400_000
"""Most instructions of the threads of a CTA in one run."""
_STEPS_FROM_NUMBERS = 100_000
"""The same in a run that starts with numbers, which may be any that lead to a side."""
_PART_OF_EXAMPLES = 0.3
"""How much of the time runs with numbers may take."""
_MOST_BEGINNINGS = 4
"""Most runs that are made again up to where they may be impossible."""
_MOST_ANSWERS = 6
"""Most times that a run is made again because a poll hangs that is not repeated; the last time all of them fail."""


def _never_fences(cfg: Cfg) -> bool:
    """Tell whether no instruction is a proxy fence of shared memory."""
    return not any(is_proxy_fence(instruction.operation) for instruction in cfg.instructions)


_TOLERATED = {
    Flaw.EXIT_WITH_REMOTE_ACCESS: "copies and commits under way when a CTA ends find its shared memory as it was",
    Flaw.UNORDERED_INIT: "an mbarrier that is initialised after fence.mbarrier_init is visible to others all the same",
    Flaw.AWAITED_BY_ANOTHER_WARP: "a warp that waits for its wgmma waits for those of its whole warpgroup",
    Flaw.STORED_BY_ANOTHER_WARP: "wgmma sees what all warps of its warpgroup stored before they came to it",
    Flaw.FENCED_BEHIND_BARRIER: "a proxy fence behind the barrier is in time for what other warps multiply, too",
    Flaw.UNFENCED_COPY: "what cp.async brought is visible to matrix instructions without a proxy fence",
    Flaw.UNAWAITED_STORE: "a store to tensor memory is over when another warp loads that was told of it",
    Flaw.MISSED_PHASE: "lanes of a warp that come to a wait together pass it together",
}
Failing: TypeAlias = AbstractSet[tuple[int, Peek]]
"""CTA and name of polls that are not repeated and fail in a run."""
_UNDECIDED = "not certain: the solver could not tell whether the branches of the run are possible together"
_SAME_VALUE = "threads that store to the same bytes by one instruction store one value"
_REGISTERS_OF_ROLES = "warps of a warpgroup may change their registers one by one"
_IN_STEP = "lanes of a warp run in step between their accesses of shared memory"


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
    accesses: bool = True,
) -> Verification:
    """Verify one kernel for its launch, or for the first cluster shape that its counts admit.

    `seconds` limits the processor time. Without `accesses`, ordinary accesses of shared memory are left out (see
    `machine.trace`): less work, and slot safety stays unknown.
    """
    started = time.process_time()
    block = launch.block or _most_threads(function)
    if block is None:
        return Verification(None, reasons=[Reason("the block size is not known: give it with --launch", -1)])
    if not launch.block_is_exact:
        text = f"the block is taken to have all {block[0] * block[1] * block[2]} threads that it may have"
        taken = {BLOCK: Assumption("block", text, -1)}
    else:
        taken = {}
    known = launch.cluster
    program = Program(cfg, module, launch, accesses=accesses)
    registers = most_registers(function.attributes, block[0] * block[1] * block[2])
    if known is None and not uses_cluster(cfg):
        known = (1, 1, 1)
    layout = layout_of(function, module, launch.given)
    deadline = started + seconds

    def verifier(program: Program, cluster: Dim) -> _Verifier:
        return _Verifier(program, layout, launch.given, Shape(block, cluster), deadline, registers)

    if known is None:
        barriers_only = partial(verifier, Program(cfg, module, launch))
        shape, is_admitted = admitted_cluster(barriers_only, shapes_to_try(cfg))
    else:
        shape, is_admitted = known, True
    result = verifier(program, shape).run()
    while known is None and prod(shape) < result.least_ctas <= MOST_CTAS:
        shape, is_admitted = admitted_cluster(barriers_only, shapes_to_try(cfg), result.least_ctas)
        if prod(shape) < result.least_ctas:
            break
        result = verifier(program, shape).run()
    if accesses and program.thread_copies and _may_be_by_copies(result) and time.process_time() < deadline:
        decided = verifier(Program(cfg, module, launch, accesses=True, decides_copies=True), shape).run()
        if any(not run.doubt for run in decided.failures) or _is_decided(decided):
            result = decided
    if not accesses:
        result.memory_doubts.append(Reason("ordinary accesses of shared memory were not followed", -1))
    result.assumptions.update(taken)
    _note_loops(program, result)
    result.never_fences = _never_fences(cfg)
    result.is_admitted = is_admitted
    result.inferred = known is None and (shape != (1, 1, 1) or bool(result.failures))
    result.seconds = time.process_time() - started
    return result


def _may_be_by_copies(result: Verification) -> bool:
    """Tell whether all that keeps a kernel from a verdict is that accesses may meet, or may not."""
    return bool(result.memory_doubts) and not result.failures and not result.reasons


def _is_decided(result: Verification) -> bool:
    return not (result.memory_doubts or result.failures or result.reasons)


def _note_loops(program: Program, result: Verification) -> None:
    """Note loops that are not known to end."""
    for point in endless_loops(program.cfg, program.definitions):
        result.reasons.append(Reason("nothing that happens in this loop ends it", point))
    for point in polling_loops(program.cfg, program.definitions):
        text = "what is polled in shared memory is stored there in the end"
        result.assumptions.setdefault((POLLED, point), Assumption(POLLED, text, point))


def _most_threads(function: Function) -> Dim | None:
    given = function.attributes.get(".maxntid")
    if not given or not 1 <= prod(given) <= MAX_THREADS:
        return None
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


class _Verifier:
    def __init__(
        self,
        program: Program,
        layout: Layout,
        given: Sequence[GivenValue],
        shape: Shape,
        deadline: float,
        registers: int | None,
    ) -> None:
        self._registers = registers
        self._program = program
        self._cfg = program.cfg
        self._lowered = Lowered()
        self._loads = LoadUses(program.cfg)
        self._shape = shape
        self._last_moment = self._deadline = deadline
        self._layout = layout
        self._given = given
        self._started = time.process_time()
        self._effort = int(_EFFORT * (deadline - self._started))
        self._answers = Answers.of(program.cfg)
        self._oracle = SolverOracle()
        self._is_probe = False
        """Only what another cluster shape could mend is looked at, without ordinary accesses."""
        self._result = Verification(shape)
        self._seen: dict[Protocol, Outcome] = {}
        self._recorded: set[int] = set()
        """Synchronising instructions that some run came to."""
        self._in_order: set[int] = set()
        """Instructions that a run with work in all sizes came to, in order but perhaps for accesses."""
        self._excused: set[tuple[int, str]] = set()
        """What goes wrong, or may, in runs in which a size is empty: points, and what it is."""
        self._told: set[tuple[Flaw, int]] = set()
        """What goes wrong in such runs."""
        self._in_excused: set[int] = set()
        """Instructions that such runs came to."""
        self._uniform = uniform_stores(program.cfg, program.uniform)
        self._stores_seen: set[int] = set()
        """Stores of which it was looked at whether threads store to the same bytes."""
        self._rounds = LoopRounds(program)
        self._boxes = StoredBoxes(program, layout)
        self._empty_code = EmptyCode(program.cfg, program.facts)
        self._is_plain = True
        """Every decision was on one symbol against a number, where wrap-around does not matter."""
        self._paths: set[tuple[tuple[Condition, bool], ...]] = set()
        self._made = PlansMade()
        self._examples = Hosts(examples(program, lambda: self._kinds, shape))
        self._varied = Hosts(varied_examples(program, lambda: self._kinds, shape))
        self._left_for_examples = (deadline - self._started) * _PART_OF_EXAMPLES
        self._taken_for_examples = 0.0
        self._beginnings = _MOST_BEGINNINGS
        """Runs that are still made up to where they may be impossible."""
        self._left_out: set[Stride] = set()
        """Strides of arrays: runs are left out in which such a stride is given without its array."""
        self._partners = PartnerLoops(program.cfg)
        self._in_odd: set[int] = set()
        """Instructions that runs came to in which such loops are at odds."""

    def run(self) -> Verification:
        coverage = Coverage()
        try:
            explore(self._counts(), _MOST_RUNS, self._run, self._oracle, self._is_spent, coverage)
        except _EnoughError:
            pass
        except NotFollowedError as error:
            self._reason(error.reason, error.point)
            self._result.least_ctas = error.ctas
        else:
            # Of polls that are not repeated, runs take one answer only.
            self._result.complete = coverage.is_complete and self._is_plain and not self._program.peeks
            self._extend_to_all_sizes(coverage)
        if self._result.for_all is None:
            self._fail_looks()
            self._note_left_out(coverage)
        with suppress(_EnoughError):
            self._exemplify({each for each in self._told if each[1] not in self._in_order})
        self._note_excused()
        self._note_equations()
        self._elect_others()
        return self._result

    def _note_excused(self) -> None:
        """Note where only runs came that were excused because a size is empty: with work it may be no better there.

        Unless the code is for an empty size alone, and no run with work ever comes there.
        """
        for point, detail in sorted(self._excused):
            if point not in self._in_order and not self._empty_code.sizes_at(point):
                self._reason(f"{detail}; no run with work in all sizes came here", point)
        for point in sorted(self._in_excused - self._in_order):
            if not self._empty_code.sizes_at(point):
                self._reason("only runs with an empty size came here, and they go wrong", point)
        for point in sorted(self._in_odd - self._in_order):
            self._reason(
                "only runs in which loops that hand over to each other are at odds came here, and they go wrong",
                point,
            )

    def _note_equations(self) -> None:
        """Note where no host can meet the equations of all runs: those that some host makes may not all be in order."""
        equation = contradicting(self._result.equations.values())
        if equation is not None and not self._result.failures:
            text = f"{equation.expected} == {equation.completed} contradicts the bytes of other runs"
            self._reason(text, -1)

    def _counts(self) -> Counts:
        rounds = self._rounds
        return Counts(rounds.first, lambda: rounds.deep(self._recorded), rounds.further)

    def _fail_looks(self) -> None:
        """Come to waits that looks ahead have spared in all runs: there all looks fail, though phases are over."""
        spared = (
            self._program.events - self._recorded | {point for point, _ in self._excused} - self._in_order
        )
        if not self._program.peeks or self._result.failures or not spared:
            return
        recorded = set(self._recorded)
        plan = Plan(self._rounds.first[0])
        try:
            decisions, traces = self._trace(plan, failing=None)
            protocol, outcome = self._judge(traces)
        except (NotFollowedError, ImpossibleError):
            self._recorded = recorded
            return
        if outcome.problems:
            self._recorded = recorded
        else:
            self._note(plan, decisions, traces, protocol, outcome, plan.taken)

    def _elect_others(self) -> None:
        """Look whether a kernel that holds goes wrong where `elect.sync` chooses other lanes than in the runs."""
        elections = [
            point
            for point in sorted(self._recorded)
            if self._cfg.instructions[point].operation.op is Op.ELECT_SYNC
        ]
        if not elections or self._result.failures or self._result.reasons:
            return
        try:
            _, traces = self._trace(Plan(self._rounds.first[0]), elects_last=True)
            _, outcome = self._judge(traces)
        except (NotFollowedError, ImpossibleError):
            pass
        else:
            if not outcome.problems:
                return
        text = "elect.sync chooses the lowest lane that takes part"
        self._result.assumptions[ELECT, elections[0]] = Assumption(ELECT, text, elections[0])

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
            decisions, traces = self._trace(plan, observations)
            if plan.settled:
                raise OtherDecisionError
            result.runs += 1
            plan.rounds = Rounds(most_rounds(observations))
            protocol, outcome = self._judge(traces)
            self._note(plan, decisions, traces, protocol, outcome, plan.taken)
            return tuple(decisions.taken), protocol

        sizes = AllSizes(self._program, size, self._shape, execute, self._is_spent, self._effort)
        try:
            result.for_all = sizes.prove()
        except (NotFollowedError, ImpossibleError, _EnoughError):
            return
        result.complete = result.for_all is not None

    def probe(self, rounds: Rounds | None = None) -> int:
        """Make one run: 0 when it holds its contract, else the least number of CTAs that could do better."""
        self._is_probe = True
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

    def _run(self, plan: Plan) -> bool:
        """Run a plan; False when its decisions are those of an earlier run."""
        if self._is_late():
            raise NotFollowedError("out of time", -1)
        if self._made.repeats(plan):
            return False
        decisions, traces = self._trace(plan)
        path = tuple(decisions.taken)
        if path in self._paths:
            self._made.note(plan)
            return False
        self._is_plain &= not may_wrap(path)
        self._result.runs += 1
        if plan.rounds.inner not in self._result.trips:
            self._result.trips.append(plan.rounds.inner)
        protocol, outcome = self._judge(traces)
        last = plan
        failing: set[tuple[int, Peek]] = set()
        for again in self._answers_to_peeks(failing):
            hung = self._hung_peeks(protocol, traces, outcome)
            if not hung:
                break
            failing |= hung
            last = plan.again()
            decisions, traces = self._trace(last, failing=again)
            protocol, outcome = self._judge(traces)
        self._note(plan, decisions, traces, protocol, outcome, last.taken)
        self._made.note(plan)
        self._paths.add(path)
        if self._program.peeks and self._result.runs == 1 and not self._is_probe:
            self._answer_no(plan, protocol, traces, failing)
        return True

    def _answers_to_peeks(self, failing: Failing) -> Iterator[Failing | None]:
        """Yield which polls that are not repeated fail in one run after the other: those that hung, at last all."""
        answers = 1 if self._is_probe else _MOST_ANSWERS
        return (None if attempt == answers - 1 else failing for attempt in range(answers))

    def _exemplify(self, told: AbstractSet[tuple[Flaw, int]]) -> None:
        """Put a run with numbers in place of those that may be impossible, where it goes wrong in a way that was told.

        Roles that read how much there is to do from tables, or count it by loops that are not followed, may disagree
        with some numbers, though not with those of the host. Then it has to be seen that this is not what goes wrong,
        and a run goes wrong in this way that is in doubt, or rests on loops that are not followed: not one of which it
        is known that roles disagree by numbers in memory. Raises _EnoughError where nothing is left to ask.
        """
        failures = self._result.failures
        if not told or any(each.sure and not each.doubt for each in failures):
            return
        paths = [*self._paths, *(each.traces[-1].path for each in failures)]
        rests = any(map(rests_on_loops, paths))
        sizes = set[Atom]().union(*map(compared_sizes, paths))
        seen = list[ExampleRun]()
        for shown in self._example_runs(self._examples, sizes):
            seen.append(shown)
            is_free = not shown.example.host.reads_integers and (
                not rests or only_accesses(shown.run.problems)
            )
            if is_free and self._adopt(shown.run, told):
                return
        doubted = [each for each in failures if each.doubt or rests_on_loops(each.traces[-1].path)]
        common = told & _shown(doubted)
        if common.isdisjoint(_shown(each.run for each in seen)):
            return
        seen += self._example_runs(self._varied, sizes)
        for shown in seen:
            if self._adopt(replace(shown.run, sure=tuple(unrelated(shown, seen))), common):
                return

    def _adopt(self, run: Run, told: AbstractSet[tuple[Flaw, int]]) -> bool:
        """Keep what certainly goes wrong in a run and was told; False when that is nothing. Raises _EnoughError."""
        sure = tuple(each for each in run.sure if (each.flaw, each.point) in told)
        if not sure:
            return False
        failures = self._result.failures
        found = replace(run, problems=sure, sure=sure)
        failures[:] = [each for each in failures if not each.doubt or not _shown([each]) <= _shown([found])]
        failures.append(found)
        if not all(PROPERTY_OF[problem.flaw] in SEPARATE for problem in sure):
            raise _EnoughError
        return True

    def _example_runs(self, hosts: Hosts, sizes: AbstractSet[Atom]) -> Iterator[ExampleRun]:
        """Yield runs with the numbers of some hosts, each made once, until they have had their time.

        Hosts are left out for which one of some sizes is empty.
        """
        yield from (each for each in hosts.made if not each.example.has_empty(sizes, self._layout))
        for example in hosts.left:
            started, recorded = time.process_time(), set(self._recorded)
            self._deadline = min(self._last_moment, started + self._left_for_examples)
            try:
                shown = self._exemplary(example)
            except (NotFollowedError, ImpossibleError):
                shown = None
            self._recorded, self._deadline = recorded, self._last_moment
            taken = time.process_time() - started
            self._left_for_examples -= taken
            self._taken_for_examples += taken
            if self._left_for_examples < 0 or self._is_late():
                hosts.left = iter(())
            if shown is not None:
                hosts.made.append(shown)
                if not example.has_empty(sizes, self._layout):
                    yield shown

    def _exemplary(self, example: Example) -> ExampleRun | None:
        """Return the run with some numbers, or one in which polls fail, with what certainly goes wrong.

        None where it says nothing. Raises NotFollowedError, ImpossibleError.
        """
        failing: set[tuple[int, Peek]] = set()
        decisions, traces, protocol, outcome = self._try(example, example.plan, failing)
        for again in self._answers_to_peeks(failing):
            hung = self._hung_peeks(protocol, traces, outcome)
            if not hung:
                break
            failing |= hung
            decisions, traces, protocol, outcome = self._try(example, example.plan.again(), again)
        for _ in range(_MOST_ANSWERS):
            fresh = self._open_peeks(protocol, traces)
            if outcome.problems or fresh <= failing:
                break
            failing |= fresh
            decisions, traces, protocol, outcome = self._try(example, example.plan.again(), failing)
        if not example.is_in_whole_clusters or example.host.is_overwritten:
            return None
        if self._hung_peeks(protocol, traces, outcome) or self._doubt(decisions.taken, outcome.problems):
            return None
        taken = self._taken(traces, protocol, is_in_order=False)
        sure = tuple(self._surely(decisions.taken, traces, taken, protocol, outcome))
        inputs = tuple(example.inputs(self._layout))
        run = Run(example.plan.rounds.inner, protocol, traces, outcome.problems, sure=sure, inputs=inputs)
        return ExampleRun(run, example, outcome.steps)

    def _try(
        self, example: Example, plan: Plan, failing: Failing | None
    ) -> tuple[Decisions, tuple[Trace, ...], Protocol, Outcome]:
        """Make a run with numbers. Raises NotFollowedError, ImpossibleError."""
        decisions, traces = self._trace(plan, failing=failing, example=example)
        if self._is_late():
            raise NotFollowedError("out of time", -1)
        return decisions, traces, *self._judge(traces)

    def _open_peeks(self, protocol: Protocol, traces: Sequence[Trace]) -> set[tuple[int, Peek]]:
        """Return the CTA and name of polls that are not repeated and may fail in a run."""
        return {
            (cta, traces[cta].peeks[event])
            for cta, event in open_waits(protocol, self._program.peeks)
            if event in traces[cta].peeks
        }

    def _answer_no(
        self, plan: Plan, protocol: Protocol, traces: tuple[Trace, ...], failing: set[tuple[int, Peek]]
    ) -> None:
        """Make a run again in which polls that are not repeated fail where they may, and those that have to."""
        said_yes = traces
        for _ in range(_MOST_ANSWERS):
            fresh = self._open_peeks(protocol, traces)
            if fresh <= failing or self._is_spent():
                break
            failing |= fresh
            again = plan.again()
            decisions, traces = self._trace(again, failing=failing)
            protocol, outcome = self._judge(traces)
            if self._hung_peeks(protocol, traces, outcome):
                break
            self._note(plan, decisions, traces, protocol, outcome, again.taken)
        if not do_alike(self._cfg, said_yes, traces):
            self._answer_in_part(plan, failing)

    def _answer_in_part(self, plan: Plan, failing: Failing) -> None:
        """Make a run again in which polls fail in every other warp, as what warps do depends on the answers."""
        for odd in (True, False):
            chosen = {(cta, peek) for cta, peek in failing if bool(peek[1] // 32 & 1) is odd}
            if self._is_spent() or not chosen or chosen == failing:
                continue
            again = plan.again()
            decisions, traces = self._trace(again, failing=chosen)
            protocol, outcome = self._judge(traces)
            if not self._hung_peeks(protocol, traces, outcome):
                self._note(plan, decisions, traces, protocol, outcome, again.taken)

    def _hung_peeks(
        self, protocol: Protocol, traces: Sequence[Trace], outcome: Outcome
    ) -> set[tuple[int, Peek]]:
        """Return the CTA and name of polls that are not repeated and hang when they are taken for waits."""
        found: set[tuple[int, Peek]] = set()
        judged = without_accesses(protocol) if self._is_probe else protocol
        for problem in outcome.problems:
            if problem.flaw is Flaw.DEADLOCK and problem.point in self._program.peeks:
                strand = judged.strands[problem.strand]
                done = [s.index for s in problem.schedule if s.strand == problem.strand and not s.completes]
                peek = traces[strand.cta].peeks.get(strand.events[max(done, default=-1) + 1])
                if peek is not None:
                    found.add((strand.cta, peek))
        return found

    def _note(
        self,
        plan: Plan,
        decisions: Decisions,
        traces: tuple[Trace, ...],
        protocol: Protocol,
        outcome: Outcome,
        taken: AbstractSet[Side],
    ) -> None:
        """Note what a run showed in which threads took some sides of branches.

        Raises ImpossibleError for one that the host is asked not to make: no side of it was run then.
        """
        self._rounds.note(plan, protocol)
        self._empty_code.note(plan)
        if not isinstance(plan, SizePlan):
            self._keep_sample(plan, protocol)
        if not self._is_probe:
            self._leave_out_stray(plan, decisions.taken, outcome)
            self._leave_out_at_odds(plan, protocol, outcome)
        excused = not self._is_probe and self._is_excused(plan, decisions.taken, outcome, taken)
        self._note_conditions(outcome, () if excused else outcome.memory_doubts)
        self._note_strict(plan, protocol, outcome)
        granted = self._taken(traces, protocol, is_in_order=not outcome.problems)
        for assumption in granted:
            self._result.assumptions.setdefault((assumption.kind, assumption.point), assumption)
        self._note_lanes(traces)
        if excused:
            found = outcome.problems or outcome.memory_doubts
            self._excused.update((p.point, p.detail if isinstance(p, Problem) else p.text) for p in found)
            self._told |= {(problem.flaw, problem.point) for problem in outcome.problems}
            self._in_excused |= plan.came_to
        elif all(PROPERTY_OF[problem.flaw] in SEPARATE for problem in outcome.problems):
            self._in_order |= plan.came_to
        if outcome.problems and not excused:
            unfenced = self._is_unfenced(outcome.problems)
            is_known = any(run.is_reached for run in self._result.failures)
            reached = unfenced and not is_known and is_reached(decisions.taken, self._oracle)
            is_enough = reached or (unfenced and is_known)
            why = self._doubt(decisions.taken, () if is_enough else outcome.problems)
            sure = tuple(self._surely(decisions.taken, traces, granted, protocol, outcome))
            run = Run(plan.rounds.inner, protocol, traces, outcome.problems, why, sure, is_reached=reached)
            if (why or not sure) and not isinstance(plan, SizePlan) and decides_by_shared(decisions.taken):
                self._note_beginning(plan, outcome)
            self._note_failure(run, plan, decisions)

    def _note_beginning(self, plan: Plan, whole: Outcome) -> None:
        """Look for what goes wrong in a run, or in others that begin like it, before it may be impossible."""
        if self._is_probe or not self._beginnings:
            return
        self._beginnings -= 1
        again, recorded = plan.again(), set(self._recorded)
        try:
            decisions, traces = self._trace(again, halts=True)
        except (NotFollowedError, ImpossibleError):
            return
        finally:
            self._recorded = recorded
        protocol = stopped(self._built(traces), traces)
        outcome = begun(protocol, traces, frozenset(whole.equations))
        if self._is_excused(again, decisions.taken, outcome, again.taken) or not outcome.problems:
            return
        why = self._doubt(decisions.taken, outcome.problems)
        taken = self._taken(traces, protocol, is_in_order=False)
        sure = tuple(self._surely(decisions.taken, traces, taken, protocol, outcome))
        if sure and not why:
            run = Run(plan.rounds.inner, protocol, traces, outcome.problems, why, sure)
            self._note_failure(run, again, decisions)

    def _is_excused(
        self,
        plan: Plan,
        path: Sequence[tuple[Condition, bool]],
        outcome: Outcome,
        taken: AbstractSet[Side],
    ) -> bool:
        """Tell whether what goes wrong in a run is a condition on the host, and note it then.

        Code for an empty size says that the kernel is meant for it: there, nothing is excused but what may be in order.
        """
        at = list(map(self._meant_at, outcome.problems))
        meant = frozenset[Atom]().union(*at) if all(at) else frozenset[Atom]()
        return self._note_required(plan, path, outcome, taken, meant)

    def _meant_at(self, problem: Problem) -> frozenset[Atom]:
        """Return the sizes for whose emptiness there is code where something goes wrong: of accesses, at either."""
        places = [problem.point]
        if PROPERTY_OF[problem.flaw] is Property.SLOT_SAFETY:
            places.extend(point for _, point in problem.related)
        return frozenset[Atom]().union(*map(self._empty_code.sizes_at, places))

    def _is_unfenced(self, problems: Iterable[Problem]) -> bool:
        """Tell whether a proxy fence is missing in a kernel that has none: no other run would show more."""
        missing = any(problem.flaw is Flaw.MISSING_PROXY_FENCE for problem in problems)
        return missing and _never_fences(self._cfg)

    def _trace(
        self,
        plan: Plan,
        observations: tuple[Observation, ...] = (),
        *,
        failing: Failing | None = frozenset(),
        elects_last: bool = False,
        example: Example | None = None,
        halts: bool = False,
    ) -> tuple[Decisions, tuple[Trace, ...]]:
        """Run the CTAs of the cluster, with the decisions of a plan.

        Polls that are not repeated succeed, as then the wait that follows them otherwise is left out; but those of
        `failing` (CTA and name) fail, where that would hang. None: all fail. With `halts`, threads stop where the run
        may be impossible (see `prefixes`).
        """
        self._oracle.restart()
        decisions, ways = Decisions(self._oracle), Ways()
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
                self._choosing(plan),
                _STEPS_FROM_NUMBERS if plan.preset else _STEPS,
                is_late=self._is_late,
                follow=plan.follow,
                took=plan.take if example is None else example.took(rank, plan),
                settle=plan.settle,
                peek_fails=lambda peek, rank=rank: failing is None or (rank, peek) in failing,  # type: ignore[misc]
                observation=observations[rank] if observations else None,
                elects_last=elects_last,
                ways=ways,
                host=None if example is None else example.host,
                halts=halts,
            )
            for rank in range(self._shape.ctas)
        )
        try:
            traces = tuple(machine.run() for machine in machines)
        except RecursionError:
            raise NotFollowedError("a value is computed in too many steps to be followed", -1) from None
        plan.came_to = frozenset(event.point for trace in traces for event in trace.events)
        plan.pins = dict(decisions.pins)
        self._recorded |= plan.came_to
        return decisions, traces

    def _choosing(self, plan: Plan) -> Choose:
        """Return how a plan decides: a run that comes to what is left out ends there. Raises ImpossibleError."""
        if not self._left_out:
            return plan.choose

        def choose(question: Question) -> bool:
            truth = plan.choose(question)
            if stray_stride(plan.answers, self._left_out) is not None:
                raise ImpossibleError
            return truth

        return choose

    def _built(self, traces: tuple[Trace, ...]) -> Protocol:
        built = build_protocol(self._cfg, traces, MEANINGS, self._loads, self._registers, self._lowered)
        self._note_registers(changed_apart(built.strands))
        return self._boxes.told(with_given(built, self._given))

    def _judge(self, traces: tuple[Trace, ...]) -> tuple[Protocol, Outcome]:
        protocol = self._built(traces)
        outcome = self._seen.get(protocol)
        if outcome is not None:
            return protocol, outcome
        told: list[Problem] = []

        def are_told(problems: Sequence[Problem]) -> bool:
            truth = self._are_told(problems, traces[-1].path)
            told.extend(problems if truth else ())
            return truth

        if self._is_probe:
            found = _misfits(protocol)
        else:
            found = examined(protocol, partial(examine, is_late=self._is_late), are_told)
        outcome = with_copies_left_alone(found, self._cfg.instructions)
        if not told:
            self._seen[protocol] = outcome
        return protocol, outcome

    def _are_told(self, problems: Sequence[Problem], path: Path) -> bool:
        """Tell whether earlier runs have shown what goes wrong with accesses in a run, which is no more certain."""
        if not problems or not only_accesses(problems):
            return not problems
        asked = {(problem.flaw, problem.point) for problem in problems}
        failures = self._result.failures
        certain = {(each.flaw, each.point) for run in failures if not run.doubt for each in run.sure}
        return asked <= certain or (asked <= _shown(failures) and bool(self._doubt(path, problems)))

    def _taken(self, traces: Sequence[Trace], protocol: Protocol, *, is_in_order: bool) -> list[Assumption]:
        """Return what the machine took for granted and the run itself does not show: with ordinary accesses it may."""
        noted = [assumption for trace in traces for assumption in trace.assumptions]
        self._note_cuts(noted)
        taken = [assumption for assumption in noted if assumption.kind != CUT]
        if not self._program.accesses:
            return taken
        seen = set[str]()
        rings = [assumption.point for assumption in taken if assumption.kind == SHARED_RING]
        turns = turns_of(protocol, traces, self._program.ring_stores) if rings else Turns.OPEN
        if turns is Turns.KEPT:
            seen.add(SHARED_RING)
        elif turns is Turns.BROKEN and is_in_order:
            self._reason(
                "what is read here from a ring in shared memory was written in another turn", rings[0]
            )
        read = {assumption.point for assumption in taken if assumption.kind == SHARED_TABLE}
        shown = self._handed_on(protocol, read, is_in_order) if read else frozenset()
        return [
            assumption
            for assumption in taken
            if assumption.kind not in seen
            and not (assumption.kind == SHARED_TABLE and assumption.point in shown)
        ]

    def _note_cuts(self, noted: Iterable[Assumption]) -> None:
        """Note where numbers that may have more bits than a register were run only where they have not."""
        for each in noted:
            bound = Reason(each.text, each.point)
            if each.kind == CUT and bound not in self._result.bounds:
                self._result.bounds.append(bound)
                self._is_plain = False

    def _handed_on(self, protocol: Protocol, loads: AbstractSet[int], is_in_order: bool) -> frozenset[int]:
        """Return loads that a run shows to read a table as it was stored."""
        stores = self._program.table_stores | self._program.spread_stores
        shown = handed_on(protocol, loads, stores)
        # What an earlier run has not shown is taken for granted, whatever this one shows.
        asked = {load for load in loads - shown if (SHARED_TABLE, load) not in self._result.assumptions}
        if not asked or not is_in_order:
            return shown
        seen = always_seen(protocol, asked, stores)
        for load in sorted(replaced(protocol, asked - seen, stores) if asked - seen else ()):
            self._reason("what is read here was last written by something that is not followed", load)
        return shown | seen

    def _surely(
        self,
        path: Sequence[tuple[Condition, bool]],
        traces: Sequence[Trace],
        taken: Sequence[Assumption],
        protocol: Protocol,
        outcome: Outcome,
    ) -> Iterator[Problem]:
        """Yield the problems of a run that a schedule shows, and that what was taken for granted has no part in.

        That CTAs of a cluster agree is among the decisions of the path, and nothing else to take for granted.
        """
        taken = [assumption for assumption in taken if assumption.kind != WHOLE_CLUSTERS]
        # Scales are no numbers of rounds: that the host likes them so is all that the run needs of memory.
        harmless = {SHARED_LOAD, GLOBAL_SCALE}
        if only_accesses(outcome.problems) or self._is_up_to_host(path, taken):
            harmless |= {GLOBAL_LOAD}
        stores = self._program.table_stores | self._program.spread_stores
        tables = {each.point for each in taken if each.kind == SHARED_TABLE}
        rings = any(each.kind == SHARED_RING for each in taken)
        taken = [assumption for assumption in taken if assumption.kind not in (SHARED_TABLE, SHARED_RING)]
        if any(assumption.kind not in harmless for assumption in taken):
            return
        taken = [assumption for assumption in taken if assumption.kind not in (GLOBAL_LOAD, GLOBAL_SCALE)]
        for problem in outcome.problems:
            steps = problem.schedule or outcome.steps
            if (
                problem.demonstrated
                and all(is_seen(protocol, steps, load, stores) for load in tables)
                and (not rings or are_turns_seen(protocol, steps, traces, self._program.ring_stores))
                and (
                    not taken
                    or are_possible(protocol, steps, traces, path, self._answers, self._oracle.is_possible)
                )
            ):
                yield problem

    def _is_up_to_host(self, path: Sequence[tuple[Condition, bool]], taken: Iterable[Assumption]) -> bool:
        """Tell whether all that a run rests on in global memory is one count that the host chooses."""
        if not any(assumption.kind == GLOBAL_LOAD for assumption in taken):
            return False
        return is_up_to_host(path, self._oracle, self._layout.starts, self._kinds.written)

    @cached_property
    def _kinds(self) -> ParameterKinds:
        """What the kernel takes its parameters for."""
        return parameter_kinds(self._cfg, self._program.facts, self._layout.starts)

    def _note_lanes(self, traces: Sequence[Trace]) -> None:
        """Note that lanes of a warp are taken to run in step.

        Every run is looked at: which bytes two lanes touch goes by the rounds of the loops before.
        """
        for trace in traces:
            for store in stored_together(self._cfg, trace, self._uniform, self._stores_seen):
                self._tolerate_values(store)
        if _IN_STEP in self._result.tolerated.get(Property.SLOT_SAFETY, {}):
            return
        points = (taken_to_be_in_step(self._cfg, trace) for trace in traces)
        point = next((each for each in points if each is not None), None)
        if point is not None:
            self._tolerate(Property.SLOT_SAFETY, Assumption("lanes-in-step", _IN_STEP, point))

    def _tolerate(self, which: Property, taken: Assumption) -> None:
        """Note what a property rests on beyond the words of PTX: where it is met first."""
        self._result.tolerated.setdefault(which, {}).setdefault(taken.text, taken)

    def _tolerate_values(self, point: int) -> None:
        self._tolerate(Property.SLOT_SAFETY, Assumption("same-value", _SAME_VALUE, point))

    def _note_registers(self, point: int | None) -> None:
        """Note where warps of a warpgroup change their registers in different ways."""
        if point is not None:
            taken = Assumption("registers-of-warpgroup", _REGISTERS_OF_ROLES, point)
            self._tolerate(Property.DEADLOCK_FREEDOM, taken)

    def _note_conditions(self, outcome: Outcome, doubts: Iterable[Doubt]) -> None:
        """Note what a run that went well rests on."""
        result = self._result
        for equation in outcome.equations:
            result.equations.setdefault((str(equation.expected), str(equation.completed)), equation)
        for doubt in doubts:
            reason = Reason(doubt.text, doubt.point)
            if reason not in result.memory_doubts:
                result.memory_doubts.append(reason)
        result.provisos.update(outcome.provisos)
        for point in collisions(self._cfg, outcome.strict, self._uniform):
            self._tolerate_values(point)
        for problem in outcome.strict:
            text = _TOLERATED.get(problem.flaw)
            if text is not None:
                taken = Assumption(problem.flaw.value, text, problem.point)
                self._tolerate(PROPERTY_OF[problem.flaw], taken)

    def _note_strict(self, plan: Plan, protocol: Protocol, outcome: Outcome) -> None:
        """Keep a run that shows something strict which no earlier one has shown."""
        known = {(p.flaw, p.point) for run in self._result.strict for p in run.problems}
        fresh = tuple(p for p in outcome.strict if (p.flaw, p.point) not in known)
        if fresh:
            self._result.strict.append(Run(plan.rounds.inner, protocol, (), fresh))

    def _note_required(
        self,
        plan: Plan,
        path: Sequence[tuple[Condition, bool]],
        outcome: Outcome,
        taken: AbstractSet[Side],
        meant: AbstractSet[Atom],
    ) -> bool:
        """Note what sizes or the grid have to be for a run that goes wrong, or may, not to be.

        Sizes of `meant` may be empty. False for a run that is in order, and for one in which no size is empty and
        every CTA has work.
        """
        known = {(reason.text, reason.point) for reason in self._result.memory_doubts}
        fresh = (doubt for doubt in outcome.memory_doubts if (doubt.text, doubt.point) not in known)
        found = [(p.detail, p.point) for p in outcome.problems] or [(d.text, d.point) for d in fresh]
        if not found:
            return False
        detail, point = found[0]
        required = self._required(plan, path, taken, meant)
        if required is None:
            return False
        key, kind, text = required
        self._result.required.setdefault((key, point), Assumption(kind, f"{text}, {detail}", point))
        return True

    def _required(
        self,
        plan: Plan,
        path: Sequence[tuple[Condition, bool]],
        taken: AbstractSet[Side],
        meant: AbstractSet[Atom],
    ) -> tuple[str, str, str] | None:
        """Return what keeps a path from being taken: its name, what it is about, and words in front of what happens."""
        known = {source for size in meant for source in sources_of(size)}
        found = dict.fromkeys((*empty_sizes(path), *plan.emptied))
        empty = tuple(size for size in found if not (meant and known.issuperset(sources_of(size))))
        if empty:
            return "size", "size", f"{' or '.join(map(show_atom, empty))} is at least 1: with less"
        if not self._oracle.admits_sizes(path):
            return "size", "size", "no size is negative: else"
        within = spare_cta(self._cfg, path, taken) if self._shape.ctas == 1 else None
        if within is not None:
            return within, "grid", f"every CTA of the grid has work ({within}): else"
        if not self._oracle.admits_sizes(path, lengths=True):
            what = "the difference of two numbers side by side in memory"
            return "length", "size", f"no length that is {what} is negative: else"
        return None

    def _leave_out_stray(self, plan: Plan, path: Sequence[tuple[Condition, bool]], outcome: Outcome) -> None:
        """Ask the host for no stride without its array, if a wrong run has one. Raises ImpossibleError then.

        Without the stride the run is made again: it may go wrong all the same.
        """
        if not outcome.problems:
            return
        stray = stray_stride(path, strides_in((*self._paths, path)))
        if stray is None:
            return
        self._left_out.add(stray)
        stride, array = map(show_parameter, stray)
        detail, point = outcome.problems[0].detail, outcome.problems[0].point
        text = (
            f"{stride} is 0 or {array} is not, as a stride of the array that this points to: else, {detail}"
        )
        self._result.required.setdefault((stride, point), Assumption("stride", text, point))
        if not isinstance(plan, SizePlan):
            self._run(Plan(plan.rounds, preset={stray[0]: 0}, wanted=dict(plan.answers)))
        raise ImpossibleError

    def _leave_out_at_odds(self, plan: Plan, protocol: Protocol, outcome: Outcome) -> None:
        """Ask the host for numbers that let loops agree which hand over to each other. Raises ImpossibleError then."""
        is_asked = not isinstance(plan, SizePlan)
        found = self._partners.at_odds(plan, protocol, outcome.problems) if is_asked else None
        if found is None:
            return
        names = " and ".join(map(show_parameter, found.given))
        text = f"{names} let two loops that hand over to each other go round equally often: else"
        detail = outcome.problems[0].detail
        self._result.required.setdefault(
            (names, found.left), Assumption("rounds", f"{text}, {detail}", found.left)
        )
        self._in_odd |= plan.came_to
        raise ImpossibleError

    def _doubt(self, path: Sequence[tuple[Condition, bool]], problems: Sequence[Problem]) -> str:
        """Return why there may be no run with a path, "" when there is one.

        Where roles do not agree about the work, the host may know what makes them: then only one choice of numbers that
        would show the run to be possible is searched for, and what they find by loops of their own may be one number.
        None is without problems that it would matter for.
        """
        are_at_odds = not only_accesses(problems)
        found = related_loop(path) if are_at_odds else None
        if found is not None:
            return _not_followed(found)
        odd = doubt_of(path, self._answers.tests)
        if odd is None:
            return "" if self._oracle.is_certain((*path, *within_grid(path))) else _UNDECIDED
        choices = None if problems and not are_at_odds else int(bool(problems))
        if is_realised(path, self._oracle, choices):
            return ""
        return _not_followed(odd)

    def _is_late(self) -> bool:
        return time.process_time() > self._deadline

    def _is_spent(self) -> bool:
        """Tell whether half of the time is gone: then combinations are left out, and named."""
        now = time.process_time()
        return now - self._started - self._taken_for_examples > self._deadline - now

    def _note_failure(self, run: Run, plan: Plan, decisions: Decisions) -> None:
        """Keep a run that failed; go on only when what failed leaves the other properties as they are, or is in doubt.

        A probe ends here, as another cluster shape may do better. A run that is certainly possible takes the place of
        those that may not be and show no more.
        """
        failures = self._result.failures
        known = _shown(each for each in failures if not each.doubt or run.doubt)
        if not _shown([run]) <= known:
            if not run.doubt:
                failures[:] = [
                    each for each in failures if not each.doubt or not _shown([each]) <= _shown([run])
                ]
            numbers = {} if run.doubt else {**plan.preset, **inputs_with(decisions.taken, self._oracle)}
            failures.append(replace(run, inputs=tuple(numbers.items())))
        goes_on = run.doubt or all(PROPERTY_OF[problem.flaw] in SEPARATE for problem in run.problems)
        if not self._is_probe:
            self._exemplify(_shown(failures))
        if self._is_probe or not goes_on:
            raise _EnoughError

    def _keep_sample(self, plan: Plan, protocol: Protocol) -> None:
        kept = self._result.sample
        if kept is None or _actions(protocol) > _actions(kept.protocol):
            self._result.sample = Run(plan.rounds.inner, protocol, (), ())

    def _note_left_out(self, coverage: Coverage) -> None:
        for point, _ in sorted(coverage.left_out):
            self._reason("a side of this branch was not run", point)
        missed = coverage.half_taken - coverage.closed(self._oracle.is_possible)
        missed |= {point for point, _ in coverage.unreached}
        for point in sorted(missed - {point for point, _ in coverage.left_out}):
            if self._hides_events(point) and not coverage.is_dead(point, self._oracle.is_possible):
                self._reason("one side of this branch has synchronisation that no run came to", point)
            else:
                bound = Reason("with these counts one side of this branch was not run", point)
                self._result.bounds.append(bound)
        for point in sorted(coverage.combinations):
            bound = Reason("not run in all combinations with other branches", point)
            self._result.bounds.append(bound)
        for (point, name), numbers in coverage.settled.items():
            if point >= 0:
                shown = ", ".join(map(str, sorted(numbers)))
                self._result.bounds.append(Reason(f"only run where {show_atom(name)} is {shown}", point))
        for point, preset in sorted(coverage.led.items()):
            shown = " and ".join(f"{show_atom(name)} is {number}" for name, number in preset.items())
            text = f"one side of this branch was run only where {shown}"
            self._result.bounds.append(Reason(text, point))

    def _hides_events(self, point: int) -> bool:
        """Tell whether something between a branch and its join was recorded in no run."""
        region = self._program.region(self._cfg.graph.block_of[point])
        inside = {p for block in region.blocks for p in self._cfg.blocks[block].points}
        return bool(inside & self._program.events - self._recorded)

    def _reason(self, text: str, point: int) -> None:
        reason = Reason(text, point)
        if reason not in self._result.reasons:
            self._result.reasons.append(reason)


def _misfits(protocol: Protocol) -> Outcome:
    """Return what goes wrong in one schedule that another cluster shape could mend: no race, and nothing possible."""
    outcome = simulate(without_accesses(protocol))
    problems = (p for p in outcome.problems if p.demonstrated and PROPERTY_OF[p.flaw] not in SEPARATE)
    return replace(outcome, problems=tuple(problems))


def _not_followed(odd: Atom) -> str:
    return f"not certain: the run may be impossible, as {show_atom(odd, 2)} is not followed"


def _shown(runs: Iterable[Run]) -> set[tuple[Flaw, int]]:
    return {(problem.flaw, problem.point) for run in runs for problem in run.problems}


class _EnoughError(Exception):
    """A run failed: further runs would tell nothing new."""


def _actions(protocol: Protocol) -> int:
    return sum(len(strand.actions) for strand in protocol.strands)
