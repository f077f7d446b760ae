"""Whether what goes wrong with numbers of a host speaks for the hosts that a kernel is meant for.

Where roles read how much there is to do from tables, or count it by loops that are not followed, the numbers may have
to agree in a way that the host alone knows, as lengths do with offsets. With others a right kernel goes wrong. What
goes wrong has nothing to do with that where strands have come to the same at its barrier with all numbers, or where a
run is in order whose numbers all differ, though its threads take the same sides of all branches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...model.actions import Action, Init, Inval
from ...model.object_uses import sync_objects_of
from ...model.outcome import Problem
from ...symex.interpreter.host import Choice
from .example_runs import ExampleRun

_Signature: TypeAlias = frozenset[tuple[object, ...]]


def unrelated(shown: ExampleRun, seen: Sequence[ExampleRun]) -> Iterator[Problem]:
    """Yield what certainly goes wrong in one of some runs with numbers, however these have to agree."""
    sides = shown.example.sides()
    if any(_differs(each) and not each.run.problems and each.example.sides() == sides for each in seen):
        yield from shown.run.sure
        return
    of_same_size = [each for each in seen if _choice(each).size == _choice(shown).size]
    if {_choice(each).step > 0 for each in of_same_size if _differs(each)} != {True, False}:
        return
    for problem in shown.run.sure:
        steps = _steps(problem, shown)
        alike = {id(each): _same(problem, each) for each in seen}
        if (
            steps
            and None not in alike.values()
            and all(_steps(alike[id(each)] or problem, each) == steps for each in of_same_size)
        ):
            yield problem


def _choice(shown: ExampleRun) -> Choice:
    return shown.example.host.choice


def _differs(shown: ExampleRun) -> bool:
    """Tell whether the numbers of a run differ."""
    return bool(_choice(shown).step)


def _same(problem: Problem, shown: ExampleRun) -> Problem | None:
    """Return what goes wrong in another run in the same way, None where nothing does.

    It does so at the same place, or at another copy of it: for the same phase of the barrier.
    """
    return next(
        (
            p
            for p in shown.run.sure
            if p.flaw is problem.flaw
            and (p.point == problem.point or (p.barrier, p.phase) == (problem.barrier, problem.phase))
        ),
        None,
    )


def _steps(problem: Problem, shown: ExampleRun) -> _Signature:
    """Return what strands have done at a barrier when something goes wrong there, and whether they have ended.

    Those that do no more than initialise it have no part in that.
    """
    done: dict[int, list[int]] = defaultdict(list)
    for step in problem.schedule or shown.steps:
        if not step.completes:
            done[step.strand].append(step.index)
    found = set[tuple[object, ...]]()
    for index, strand in enumerate(shown.run.protocol.strands):
        if index == problem.strand or any(_acts_at(problem, action) for action in strand.actions):
            actions = (strand.actions[each] for each in done[index])
            at_barrier = tuple(type(each) for each in actions if _acts_at(problem, each))
            has_ended = len(done[index]) == len(strand.actions)
            found.add((strand.cta, strand.warp, strand.lanes, at_barrier, has_ended))
    return frozenset(found)


def _acts_at(problem: Problem, action: Action) -> bool:
    return problem.barrier in sync_objects_of(action) and not isinstance(action, Init | Inval)
