"""What is asked of the host, as runs go wrong otherwise: sizes that are not empty, work for all, loops that agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from ....verdict import AssumptionKind, Property
from ...model.mechanisms import PROPERTY_OF
from ...model.outcome import (
    Doubt,
    Flaw,
    Outcome,
    Problem,
)
from ...proof.evidence import Verification
from ...proof.first.all_sizes import Path, SizePlan
from ...proof.first.empty_code import EmptyCode
from ...proof.first.paths import Plan
from ...symex.slice.sliced_program import Program
from ...symex.values.approximated_terms import empty_sizes, numbers_wanted, sources_of
from ...symex.values.solver import SolverOracle
from ...symex.values.symbol import (
    Atom,
    ImpossibleError,
    show_atom,
    show_parameter,
    stating_sizes,
)
from ...symex.values.trace import Assumption, Shape
from .attempt import Attempt
from .partner_loops import PartnerLoops
from .spare_ctas import spare_cta, without_rounds
from .stray_strides import Stride, stray_stride, strides_in

_OFTEN = 3
"""Rounds that are enough to come round in what is handed over: so often runs that hold have to come where others go
wrong that a condition on the host leaves out."""
_ALIKE = ", of which the kernel computes the same, are one number"


class HostConditions:
    """Excuses runs that go wrong for a host that no kernel is written for, and notes that in the result."""

    def __init__(self, program: Program, shape: Shape, oracle: SolverOracle, result: Verification) -> None:
        self._program = program
        self._shape = shape
        self._oracle = oracle
        self._result = result
        self._empty_code = EmptyCode(program.cfg, program.facts)
        self._partners = PartnerLoops(program.cfg, program.definitions)
        self._excused: set[tuple[int, str]] = set()
        """What goes wrong, or may, in runs in which a size is empty: points, and what it is."""
        self._told: set[tuple[Flaw, int]] = set()
        """What goes wrong in such runs."""
        self._in_excused: set[int] = set()
        """Instructions that such runs came to."""
        self._alike: dict[str, int] = {}
        """Names of parameters that runs take one number for, with the place where it was needed first."""
        self._unlike: dict[str, int] = {}
        """Names of parameters that the host is asked to pass one number for, with the place."""
        self._held: dict[int, int] = {}
        """How often a strand acted by an instruction, at most, in runs with work in all sizes that are in order."""
        self._left_out: dict[tuple[int, str], int] = {}
        """What goes wrong in runs that a condition leaves out, and how often a strand acted there, at least."""
        self._held_alike: set[str] = set()
        """Names of parameters that a run took one number for, and was in order."""
        self._in_odd: set[int] = set()
        """Instructions that runs came to in which loops that hand over to each other are at odds."""

    def note(self, attempt: Attempt) -> None:
        """Note what code there is for empty sizes, and which parameters are taken for one."""
        self._empty_code.note(attempt.plan)
        for point, *pair in attempt.plan.alike:
            self._alike.setdefault(_both(pair), point)

    def note_in_order(self, attempt: Attempt) -> None:
        """Note a run with work in all sizes that is in order, but perhaps for accesses."""
        self._result.in_order |= attempt.plan.came_to
        self._held_alike.update(_both(pair) for _, *pair in attempt.plan.alike)
        for point, count in _most_often(attempt).items():
            self._held[point] = max(self._held.get(point, 0), count)

    def note_excused(self, attempt: Attempt) -> None:
        """Note a run that is excused."""
        outcome = attempt.outcome
        found: Iterable[Problem | Doubt] = outcome.problems or outcome.memory_doubts
        self._excused.update((p.point, p.detail if isinstance(p, Problem) else p.text) for p in found)
        self._note_left_out(attempt)
        self._told |= {(problem.flaw, problem.point) for problem in outcome.problems}
        self._in_excused |= attempt.plan.came_to

    @property
    def excused_alone(self) -> set[int]:
        """Where runs are wrong that are excused, and none came that is in order."""
        return {point for point, _ in self._excused} - self._result.in_order

    @property
    def told_alone(self) -> set[tuple[Flaw, int]]:
        """What goes wrong in runs that are excused, where none came that is in order."""
        return {each for each in self._told if each[1] not in self._result.in_order}

    def note_alike(self) -> None:
        """Ask the host for one number where runs took one for both: they show nothing of others."""
        asked = {names for names, _ in self._result.required}
        for names, point in self._alike.items():
            if names not in asked:
                self._result.required[names, point] = Assumption(AssumptionKind.ALIKE, names + _ALIKE, point)

    def note_open(self) -> None:
        """Note where only runs came that are excused because a size is empty: with work it may be no better there.

        Unless the code is for an empty size alone, and no run with work ever comes there.
        """
        for point, detail in sorted(self._excused):
            if point not in self._result.in_order and not self._empty_code.sizes_at(point):
                self._result.note_reason(f"{detail}; no run with work in all sizes came here", point)
        for names, point in sorted(self._unlike.items()):
            if names not in self._held_alike:
                self._result.note_reason(f"no run in which {names} are one number is in order", point)
        for point in sorted(self._in_excused - self._result.in_order):
            if not self._empty_code.sizes_at(point):
                self._result.note_reason("only runs with an empty size came here, and they go wrong", point)
        for (point, detail), count in sorted(self._left_out.items()):
            if point in self._result.in_order and self._held.get(point, 0) < count:
                self._result.note_reason(f"{detail}; no run that the host may make came here as often", point)
        for point in sorted(self._in_odd - self._result.in_order):
            self._result.note_reason(
                "only runs in which roles that hand over to each other are at odds came here, and they go wrong",
                point,
            )

    def excuses(self, attempt: Attempt) -> bool:
        """Tell whether what goes wrong in a run, or may, is a condition on the host, and note that then.

        Code for an empty size says that the kernel is meant for it: there, nothing is excused but what may be in order.
        False for a run that is in order, and for one in which no size is empty and every CTA has work.
        """
        outcome = attempt.outcome
        known = {(reason.text, reason.point) for reason in self._result.memory_doubts}
        fresh = (doubt for doubt in outcome.memory_doubts if (doubt.text, doubt.point) not in known)
        found = [(p.detail, p.point) for p in outcome.problems] or [(d.text, d.point) for d in fresh]
        if not found:
            return False
        detail, point = found[0]
        required = self._required(attempt, self._meant(outcome))
        if required is None:
            return False
        key, kind, text, options = required
        self._result.required.setdefault((key, point), Assumption(kind, f"{text}, {detail}", point, options))
        return True

    def _meant(self, outcome: Outcome) -> frozenset[Atom]:
        """Return the sizes that may be empty: all that goes wrong does so in code for that."""
        at = list(map(self._meant_at, outcome.problems))
        return frozenset[Atom]().union(*at) if all(at) else frozenset()

    def _meant_at(self, problem: Problem) -> frozenset[Atom]:
        """Return the sizes for whose emptiness there is code where something goes wrong: of accesses, at either."""
        places = [problem.point]
        if PROPERTY_OF[problem.flaw] is Property.SLOT_SAFETY:
            places.extend(point for _, point in problem.related)
        return frozenset[Atom]().union(*map(self._empty_code.sizes_at, places))

    def _required(
        self, attempt: Attempt, meant: AbstractSet[Atom]
    ) -> tuple[str, AssumptionKind, str, tuple[str, ...]] | None:
        """Return what keeps a path from being taken.

        That is its name, what it is about, words in front of what happens, and what `--assume` would say.
        """
        plan, path = attempt.plan, attempt.path
        known = {source for size in meant for source in sources_of(size)}
        found = dict.fromkeys((*empty_sizes(path), *plan.emptied))
        empty = tuple(size for size in found if not (meant and known.issuperset(sources_of(size))))
        if empty:
            return (
                "size",
                AssumptionKind.SIZE,
                f"{' or '.join(map(show_atom, empty))} is at least 1: with less",
                stating_sizes(empty),
            )
        if not self._oracle.admits_sizes(path):
            return "size", AssumptionKind.SIZE, "no size is negative: else", ()
        cfg, is_alone = self._program.cfg, self._shape.ctas == 1
        within = spare_cta(cfg, path, plan.taken, plan.preset) if is_alone else None
        if within is not None:
            return within, AssumptionKind.GRID, f"every CTA of the grid has work ({within}): else", ()
        rounds = self._without_rounds(plan) if is_alone else None
        if rounds is not None:
            return (
                rounds,
                AssumptionKind.GRID,
                f"the place of every CTA of the grid leaves it rounds ({rounds}): else",
                (),
            )
        if not self._oracle.admits_sizes(path, lengths=True):
            what = "the difference of two numbers side by side in memory"
            return "length", AssumptionKind.SIZE, f"no length that is {what} is negative: else", ()
        return None

    def _without_rounds(self, plan: Plan) -> str | None:
        return without_rounds(self._program.cfg, self._program.definitions, plan)

    def stray(self, attempt: Attempt, paths: Iterable[Path]) -> Stride | None:
        """Return the stride that a wrong run is given without its array, and ask the host for none."""
        problems = attempt.outcome.problems
        found = stray_stride(attempt.path, strides_in((*paths, attempt.path))) if problems else None
        if found is None:
            return None
        stride, array = map(show_parameter, found)
        detail, point = problems[0].detail, problems[0].point
        text = (
            f"{stride} is 0 or {array} is not, as a stride of the array that this points to: else, {detail}"
        )
        options = (f"{stride}=0",)
        self._result.required.setdefault(
            (stride, point), Assumption(AssumptionKind.STRIDE, text, point, options)
        )
        return found

    def leave_out_at_odds(self, attempt: Attempt) -> None:
        """Ask the host for numbers that let loops agree which hand over to each other. Raises ImpossibleError then."""
        plan, problems = attempt.plan, attempt.outcome.problems
        is_asked = not isinstance(plan, SizePlan)
        found = self._partners.at_odds(plan, attempt.protocol, problems) if is_asked else None
        if found is None:
            return
        names = " and ".join(map(show_parameter, found.given))
        text = f"{names} let two loops that hand over to each other go round equally often: else"
        self._result.required.setdefault(
            (names, found.left),
            Assumption(
                AssumptionKind.ROUNDS,
                f"{text}, {problems[0].detail}",
                found.left,
                numbers_wanted(tuple(found.given)),
            ),
        )
        self._in_odd |= plan.came_to
        self._note_left_out(attempt)
        raise ImpossibleError

    def leave_out_unlike(self, attempt: Attempt) -> None:
        """Ask the host for one number where the kernel uses two parameters alike. Raises ImpossibleError then."""
        plan, problems = attempt.plan, attempt.outcome.problems
        if not problems or not plan.unlike or isinstance(plan, SizePlan):
            return
        point, *pair = plan.unlike[0]
        names = _both(pair)
        text = f"{names}{_ALIKE}: else, {problems[0].detail}"
        self._result.required.setdefault((names, point), Assumption(AssumptionKind.ALIKE, text, point))
        self._in_odd |= plan.came_to
        self._unlike.setdefault(names, point)
        self._note_left_out(attempt)
        raise ImpossibleError

    def _note_left_out(self, attempt: Attempt) -> None:
        """Note what a condition on the host leaves out: only a run that meets the condition may excuse it."""
        often = _most_often(attempt)
        for problem in attempt.outcome.problems:
            key, count = (problem.point, problem.detail), often.get(problem.point, 0)
            self._left_out[key] = min(self._left_out.get(key, _OFTEN), count)


def _most_often(attempt: Attempt) -> Mapping[int, int]:
    """Return how often a strand acted by each instruction in a run, at most."""
    found: dict[int, int] = {}
    for strand in attempt.protocol.strands:
        for point, count in Counter(action.point for action in strand.actions).items():
            found[point] = max(found.get(point, 0), count)
    return found


def _both(names: Iterable[Atom]) -> str:
    return " and ".join(sorted(map(show_parameter, names)))
