"""Which runs are certainly possible, and which of their problems nothing that was taken for granted has a part in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ....verdict import AssumptionKind
from ...model.outcome import Problem, Step
from ...proof.evidence import only_accesses
from ...proof.first.all_sizes import Path
from ...proof.first.host_counts import is_up_to_host
from ...proof.first.read_values import Answers, are_possible
from ...proof.first.witness import is_realised
from ...symex.slice.layout import Layout
from ...symex.slice.parameter_kinds import ParameterKinds, parameter_kinds
from ...symex.slice.sliced_program import Program
from ...symex.values.approximated_terms import doubt_of, related_loop, within_grid
from ...symex.values.assumptions import Range
from ...symex.values.solver import SolverOracle
from ...symex.values.substitution import holds_64_bits
from ...symex.values.symbol import Atom, Condition, show_atom
from ...symex.values.trace import Assumption
from ...symex.values.wraparound import is_multiple
from .attempt import Attempt
from .handed_numbers import is_seen
from .handed_turns import are_turns_seen

_DOES_NOT_FIT = "not certain: in the run a number does not fit into the type that the kernel reads it as"
_UNDECIDED = "not certain: the solver could not tell whether the branches of the run are possible together"


class Certainty:
    """Tells of the runs of a kernel whether they are possible."""

    def __init__(self, program: Program, layout: Layout, oracle: SolverOracle) -> None:
        self._program = program
        self._layout = layout
        self._oracle = oracle
        self._answers = Answers.of(program.cfg)

    @cached_property
    def kinds(self) -> ParameterKinds:
        """What the kernel takes its parameters for."""
        return parameter_kinds(self._program.cfg, self._program.facts, self._layout.starts)

    def doubt(self, attempt: Attempt, problems: Sequence[Problem]) -> str:
        """Return why there may be no run like one that was made, "" when there is one."""
        noted = (each for trace in attempt.traces for each in trace.fits)
        fits = tuple(dict.fromkeys((*noted, *_of_multiples(attempt.path))))
        if fits and not self._oracle.is_possible((*attempt.path, *fits)):
            return _DOES_NOT_FIT
        return self.doubt_of_path(attempt.path, problems)

    def doubt_of_path(self, path: Path, problems: Sequence[Problem]) -> str:
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

    def sure(self, attempt: Attempt, taken: Iterable[Assumption]) -> tuple[Problem, ...]:
        """Return the problems of a run that a schedule shows, and that what was taken for granted has no part in."""
        return tuple(self._sure(attempt, taken))

    def _sure(self, attempt: Attempt, taken: Iterable[Assumption]) -> Iterator[Problem]:
        protocol, traces, outcome = attempt.protocol, attempt.traces, attempt.outcome
        # That CTAs of a cluster agree is among the decisions of the path.
        taken = [assumption for assumption in taken if assumption.kind is not AssumptionKind.WHOLE_CLUSTERS]
        # Scales are no numbers of rounds: that the host likes them so is all that the run needs of memory.
        harmless = {AssumptionKind.CONSTANTS, AssumptionKind.SHARED_LOAD, AssumptionKind.GLOBAL_SCALE}
        if only_accesses(outcome.problems) or self._is_up_to_host(attempt.path, taken):
            harmless |= {AssumptionKind.GLOBAL_LOAD}
        stores = self._program.stores.table | self._program.stores.spread
        tables = {each.point for each in taken if each.kind is AssumptionKind.SHARED_TABLE}
        rings = any(each.kind is AssumptionKind.SHARED_RING for each in taken)
        taken = [
            assumption
            for assumption in taken
            if assumption.kind not in (AssumptionKind.SHARED_TABLE, AssumptionKind.SHARED_RING)
        ]
        if any(assumption.kind not in harmless for assumption in taken):
            return
        of_memory = (AssumptionKind.CONSTANTS, AssumptionKind.GLOBAL_LOAD, AssumptionKind.GLOBAL_SCALE)
        taken = [assumption for assumption in taken if assumption.kind not in of_memory]

        def is_shown(steps: Sequence[Step]) -> bool:
            return (
                all(is_seen(protocol, steps, load, stores) for load in tables)
                and (not rings or are_turns_seen(protocol, steps, traces, self._program.stores.ring))
                and (
                    not taken
                    or are_possible(
                        protocol, steps, traces, attempt.path, self._answers, self._oracle.is_possible
                    )
                )
            )

        shown: dict[int, bool] = {}
        """By the identity of a schedule: most problems are of the same one."""
        for problem in outcome.problems:
            if problem.demonstrated:
                steps = problem.schedule or outcome.steps
                if id(steps) not in shown:
                    shown[id(steps)] = is_shown(steps)
                if shown[id(steps)]:
                    yield problem

    def _is_up_to_host(self, path: Path, taken: Iterable[Assumption]) -> bool:
        """Tell whether all that a run rests on in global memory is one count that the host chooses."""
        if not any(assumption.kind is AssumptionKind.GLOBAL_LOAD for assumption in taken):
            return False
        return is_up_to_host(path, self._oracle, self._layout.starts, self.kinds.written)


def _of_multiples(path: Path) -> Iterator[tuple[Condition, bool]]:
    """Yield what must hold of multiples of numbers of 32 bits that decide branches: else their high bits are lost."""
    for condition, _ in path:
        name, _ = condition.form.terms[0]
        if is_multiple(condition) and not holds_64_bits(name):
            yield Condition("lt", condition.form, Range.SIGNED.least), False
            end = Range.UNSIGNED.end if condition.relation == "below" else Range.SIGNED.end
            yield Condition("lt", condition.form, end), True


def _not_followed(odd: Atom) -> str:
    return f"not certain: the run may be impossible, as {show_atom(odd, 2)} is not followed"
