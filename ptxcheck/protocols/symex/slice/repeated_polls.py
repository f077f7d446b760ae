"""Polls that are not repeated until they succeed: when one fails, the thread may go on to something else.

Property: after a poll that is not among them has failed, a thread comes to no event and no access before it polls
again, and does the same after its success as if it had succeeded at once.

Argument: all paths after a failure are followed, but for those that abort the grid; a block with several polls is
repeated until each has succeeded (`polling`). What failures leave in registers is followed (`poll_answers`): a kernel
may count its tries.

Not covered: polls behind predicates that `polling` does not look through count as not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.graph import EdgeKind
from .kernel import Kernel
from .poll_answers import PollAnswers
from .polling import POLLS, Polling


def unrepeated_polls(kernel: Kernel, doomed: frozenset[int]) -> frozenset[int]:
    """Return the polls after whose failure a thread may act; from `doomed` blocks it surely does not."""
    return frozenset(point for point in _polls(kernel) if _way_back(kernel, doomed, point) is None)


def polls_that_count(kernel: Kernel, doomed: frozenset[int], answers: PollAnswers) -> frozenset[int]:
    """Return the other polls that leave something that matters when they fail, such as how often they did."""
    found = set()
    for point in _polls(kernel):
        way = _way_back(kernel, doomed, point)
        if way is not None and answers.leaves_something(kernel.cfg.graph.block_of[point], way, doomed):
            found.add(point)
    return frozenset(found)


def _polls(kernel: Kernel) -> Iterator[int]:
    return (point for point in kernel.events if kernel.cfg.instructions[point].operation.op in POLLS)


def _way_back(kernel: Kernel, doomed: frozenset[int], point: int) -> frozenset[int] | None:
    """Return the blocks by which threads come back to a poll that failed, None where they may act or go elsewhere."""
    cfg = kernel.cfg
    home = cfg.graph.block_of[point]
    polling = Polling(cfg, kernel.definitions)
    events = frozenset(cfg.blocks[home].points) & kernel.events
    if len(events) > 1:
        only_polls = all(cfg.instructions[each].operation.op in POLLS for each in events)
        return frozenset() if only_polls and polling.ends_with_all(home, events) else None
    busy = kernel.acting_blocks | {cfg.graph.block_of[access] for access in kernel.accesses}
    waiting, seen = [home], set[int]()
    while waiting:
        for edge in polling.after_failure(waiting.pop(), point):
            target = edge.target
            if target == home or edge.kind is EdgeKind.TRAP or target in doomed:
                continue
            if target == cfg.exit or target in busy:
                return None
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return frozenset(seen)
