"""Runs with the numbers of a host, put in place of those that may be impossible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain

from ....contract.first.attempt import Attempt
from ....contract.first.certainty import Certainty
from ....contract.first.granted import Granted
from ....model.outcome import Flaw
from ....symex.slice.layout import Layout
from ....symex.slice.sliced_program import Program
from ....symex.values.approximated_terms import compared_sizes, rests_on_loops
from ....symex.values.symbol import Atom, ImpossibleError
from ....symex.values.trace import NotFollowedError, Shape, TooLongError
from ...evidence import Run, only_accesses, shown_in
from ..all_sizes import Path
from ..budget import Budget
from ..example_evidence import unrelated
from ..example_runs import (
    Example,
    ExampleRun,
    Hosts,
    examples,
    few_examples,
    varied_examples,
)
from .peek_answers import PeekAnswers
from .single_run import Failing, Runner

_BEFORE_VARIED = 2
"""Runs with numbers that may have to agree, before those in which none do: time may not be enough for all."""


class ExampleSearch:
    """Makes each of the runs once, when it is first asked for."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        shape: Shape,
        budget: Budget,
        runner: Runner,
        peeks: PeekAnswers,
        certainty: Certainty,
        granted: Granted,
    ) -> None:
        self._layout = layout
        self._budget = budget
        self._runner = runner
        self._peeks = peeks
        self._certainty = certainty
        self._granted = granted
        few = few_examples(program, lambda: certainty.kinds, shape)
        self._examples = Hosts(examples(program, lambda: certainty.kinds, shape), few)
        self._varied = Hosts(varied_examples(program, lambda: certainty.kinds, shape))

    def found(
        self, told: AbstractSet[tuple[Flaw, int]], failures: Sequence[Run], paths: Iterable[Path]
    ) -> Run | None:
        """Return a run with numbers that certainly goes wrong in a way that was told, with only what does.

        `failures` are the runs that went wrong so far, `paths` the decisions of those that did not.

        Roles that read how much there is to do from tables, or count it by loops that are not followed, may disagree
        with some numbers, though not with those of the host. Then it has to be seen that this is not what goes wrong,
        and a run goes wrong in this way that is in doubt, or rests on loops that are not followed: not one of which it
        is known that roles disagree by numbers in memory.
        """
        if not told or any(each.sure and not each.doubt for each in failures):
            return None
        paths = [*paths, *(each.traces[-1].path for each in failures)]
        rests = any(map(rests_on_loops, paths))
        sizes = set[Atom]().union(*map(compared_sizes, paths))
        doubted = [each for each in failures if each.doubt or rests_on_loops(each.traces[-1].path)]
        common = told & shown_in(doubted)
        seen = list[ExampleRun]()
        for shown in self._runs(self._examples, sizes):
            seen.append(shown)
            is_free = not shown.example.host.reads_integers and (
                not rests or only_accesses(shown.run.problems)
            )
            found = _told_alone(shown.run, told) if is_free else None
            if found is not None:
                return found
            is_common = not common.isdisjoint(shown_in(each.run for each in seen))
            if not is_free and is_common and len(seen) == _BEFORE_VARIED:
                break
        if common.isdisjoint(shown_in(each.run for each in seen)):
            return None
        varied = list(self._runs(self._varied, sizes))
        seen = [*self._runs(self._examples, sizes), *varied]
        for shown in seen:
            found = _told_alone(replace(shown.run, sure=tuple(unrelated(shown, seen))), common)
            if found is not None:
                return found
        return None

    def _runs(self, hosts: Hosts, sizes: AbstractSet[Atom]) -> Iterator[ExampleRun]:
        """Yield runs with the numbers of some hosts, each made once, until they have had their time.

        Hosts are left out for which one of some sizes is empty. Where there is too much to do, one with less is next.
        """
        yield from (each for each in hosts.made if not each.example.has_empty(sizes, self._layout))
        while (example := next(hosts.left, None)) is not None:
            with self._budget.aside(), self._runner.unrecorded():
                try:
                    shown = self._run(example)
                except TooLongError:
                    hosts.left, shown = chain(hosts.with_less, hosts.left), None
                except (NotFollowedError, ImpossibleError):
                    shown = None
            if not self._budget.has_share:
                hosts.left = iter(())
            if shown is not None:
                hosts.made.append(shown)
                if not example.has_empty(sizes, self._layout):
                    yield shown

    def _run(self, example: Example) -> ExampleRun | None:
        """Return the run with some numbers, or one in which polls fail, with what certainly goes wrong.

        None where it says nothing. Raises NotFollowedError, ImpossibleError.
        """
        attempt = self._runner.attempt(example.plan, example=example)
        again = self._again(example)
        attempt, failing = self._peeks.settled(attempt, again)
        refused = self._peeks.refused(attempt, failing, again)
        while not attempt.outcome.problems and (further := next(refused, None)) is not None:
            attempt = further
        if not example.is_in_whole_clusters or example.host.is_overwritten:
            return None
        outcome = attempt.outcome
        if self._peeks.hung(attempt) or self._certainty.doubt(attempt, outcome.problems):
            return None
        sure = self._certainty.sure(attempt, self._granted.of(attempt, is_in_order=False))
        inputs = tuple(example.inputs(self._layout))
        trips = example.plan.rounds.inner
        run = Run(trips, attempt.protocol, attempt.traces, outcome.problems, sure=sure, inputs=inputs)
        return ExampleRun(run, example, outcome.steps)

    def _again(self, example: Example) -> Callable[[Failing | None], Attempt]:
        def again(failing: Failing | None) -> Attempt:
            return self._runner.attempt(example.plan.again(), failing=failing, example=example)

        return again


def _told_alone(run: Run, told: AbstractSet[tuple[Flaw, int]]) -> Run | None:
    """Return a run with only what certainly goes wrong and was told; None when that is nothing."""
    sure = tuple(each for each in run.sure if (each.flaw, each.point) in told)
    return replace(run, problems=sure, sure=sure) if sure else None
