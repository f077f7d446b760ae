"""What else a violation may come from: of mistakes that belong together one is told, with all that follows from it.

* A race follows from a mistake at a barrier between the two accesses in the run: it should have ordered them.
* A deadlock follows from any other mistake at the barrier that never completes.
* What is wrong with the phases of a barrier follows from what is wrong with its life or counts, or an earlier step.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..finding import Explained, Rank
from ..protocols.model.actions import Action
from ..protocols.model.mechanisms import PROPERTY_OF
from ..protocols.model.outcome import Flaw
from ..protocols.proof.evidence import SEPARATE
from ..verdict import Property
from .barrier_names import barriers_of, is_about
from .violations import Violation

_COUNTS = frozenset({Flaw.TX_MISMATCH, Flaw.TX_RANGE, Flaw.OVER_ARRIVAL, Flaw.COUNT_MISMATCH})


def explained(violation: Violation) -> Explained:
    """Return at which points another mistake would explain a violation."""
    problem = violation.problem
    which = PROPERTY_OF[problem.flaw]
    if which in SEPARATE:
        return Explained(_between(violation), Rank.ACCESS)
    points = frozenset(
        action.point
        for strand in violation.run.protocol.strands
        for action in strand.actions
        if problem.barrier is not None and is_about(action, problem.barrier)
    )
    if problem.flaw is Flaw.DEADLOCK:
        return Explained(points, Rank.HANG)
    is_of_life = which is Property.LIFECYCLE or problem.flaw in _COUNTS
    return Explained(points, Rank.LIFE if is_of_life else Rank.PHASE)


def _between(violation: Violation) -> frozenset[int]:
    """Return where both roles act on a barrier between two accesses: one after its own, the other before."""
    problem, strands = violation.problem, violation.run.protocol.strands
    found: set[int] = set()
    for strand, point in problem.related:
        first, second = strands[strand].actions, strands[problem.strand].actions
        after = first[_first(first, point) + 1 :]
        before = second[: _last(second, problem.point)]
        shared = {name for each in after for name in barriers_of(each)}
        shared &= {name for each in before for name in barriers_of(each)}
        found.update(each.point for each in (*after, *before) if not shared.isdisjoint(barriers_of(each)))
    return frozenset(found)


def _first(actions: Sequence[Action], point: int) -> int:
    return next((index for index, action in enumerate(actions) if action.point == point), len(actions))


def _last(actions: Sequence[Action], point: int) -> int:
    return max((index for index, action in enumerate(actions) if action.point == point), default=0)
