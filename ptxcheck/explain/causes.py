"""What else a violation may come from: of mistakes that belong together one is told, with all that follows from it.

* A race follows from a mistake at a barrier between the two accesses in the run: it should have ordered them. Whoever
  makes it: where one role writes a slot twice, another one should have read it in between.
* A deadlock follows from any other mistake at the barrier that never completes, or at one for which somebody else waits
  for ever.
* What is wrong with the phases of a barrier follows from what is wrong with its life or counts, or an earlier step.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ..finding import Explained, Rank
from ..protocols.model.actions import Action, Strand, SyncObject
from ..protocols.model.mechanisms import PROPERTY_OF, SEPARATE
from ..protocols.model.outcome import Flaw
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
    strands = violation.run.protocol.strands
    points = frozenset(
        action.point
        for strand in strands
        for action in strand.actions
        if problem.barrier is not None and is_about(action, problem.barrier)
    )
    if problem.flaw is Flaw.DEADLOCK:
        stuck: set[SyncObject] = {
            name
            for strand, point in problem.related
            for action in strands[strand].actions
            if action.point == point
            for name in barriers_of(action)
        }
        return Explained(points | _at(strands, stuck), Rank.HANG)
    is_of_life = which is Property.LIFECYCLE or problem.flaw in _COUNTS
    return Explained(points, Rank.LIFE if is_of_life else Rank.PHASE)


def _between(violation: Violation) -> frozenset[int]:
    """Return where barriers are used on which both roles act between two accesses: one after its own, one before."""
    problem, strands = violation.problem, violation.run.protocol.strands
    found: set[SyncObject] = set()
    for strand, point in problem.related:
        first, second = strands[strand].actions, strands[problem.strand].actions
        after = first[_first(first, point) + 1 :]
        before = second[: _last(second, problem.point)]
        shared = {name for each in after for name in barriers_of(each)}
        found |= shared & {name for each in before for name in barriers_of(each)}
    return _at(strands, found)


def _at(strands: Sequence[Strand], names: AbstractSet[SyncObject]) -> frozenset[int]:
    """Return where threads act on some barriers."""
    return frozenset(
        action.point
        for strand in strands
        for action in strand.actions
        if not names.isdisjoint(barriers_of(action))
    )


def _first(actions: Sequence[Action], point: int) -> int:
    return next((index for index, action in enumerate(actions) if action.point == point), len(actions))


def _last(actions: Sequence[Action], point: int) -> int:
    return max((index for index, action in enumerate(actions) if action.point == point), default=0)
