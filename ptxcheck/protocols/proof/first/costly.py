"""Which loop took the work of a verification that its effort ended, and which parameters to fix for less of it.

Property: the loop is the innermost one with most actions in the longest run, or the one that was executed when the
effort was spent; the parameters are those that most decisions of the runs were about.

Argument: counted over the protocol and the paths, which depend on the input alone.

Not covered: work of the solver and of the checks after a run, which is not told apart by loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ....cfg.cfg import Cfg
from ....verdict import Need, Reason
from ...model.actions import Protocol
from ...symex.values.approximated_terms import numbers_wanted
from ...symex.values.symbol import Condition

_MOST_NAMES = 2
_TEXT = "more work than the effort allows"


def out_of_effort(
    cfg: Cfg, point: int, longest: Protocol | None, paths: Iterable[Iterable[tuple[Condition, bool]]]
) -> Reason:
    """Return that the effort is spent, where most of it went, and what to pass."""
    closing = _closing(cfg, _innermost(cfg, point) if point >= 0 else _busiest(cfg, longest))
    wanted: Counter[str] = Counter()
    for path in paths:
        for condition, _ in path:
            wanted.update(numbers_wanted(condition.form.terms))
    options = tuple(sorted(wanted, key=lambda name: (-wanted[name], name))[:_MOST_NAMES])
    need = Need.VALUES_OR_TIME if options else Need.TIME
    text = _TEXT if closing < 0 else f"{_TEXT}, most of it in the loop that this branch closes"
    return Reason(text, point if closing < 0 else closing, need, options)


def _innermost(cfg: Cfg, point: int) -> int | None:
    return cfg.loop_forest.innermost[cfg.graph.block_of[point]]


def _busiest(cfg: Cfg, longest: Protocol | None) -> int | None:
    """Return the loop with most actions; None where there is none."""
    actions = () if longest is None else (each for strand in longest.strands for each in strand.actions)
    counts = Counter(
        loop for each in actions if each.point >= 0 and (loop := _innermost(cfg, each.point)) is not None
    )
    return min(counts, key=lambda loop: (-counts[loop], loop), default=None)


def _closing(cfg: Cfg, loop: int | None) -> int:
    """Return the branch that goes back to the start of a loop, -1 where there is none."""
    return -1 if loop is None else cfg.blocks[max(cfg.loops[loop].latches)].last
