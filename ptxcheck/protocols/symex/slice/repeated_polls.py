"""Polls that are not repeated until they succeed: when one fails, the thread may go on to something else.

Property: after a poll that is not among them has failed, a thread comes to no event and no access before it polls
again.

Argument: all paths after a failure are followed, but for those that abort the grid; a block with several polls is
repeated until each has succeeded (`polling`).

Not covered: polls behind predicates that `polling` does not look through count as not repeated.
"""

from __future__ import annotations

from ....cfg.graph import EdgeKind
from .kernel import Kernel
from .polling import POLLS, Polling


def unrepeated_polls(kernel: Kernel, doomed: frozenset[int]) -> frozenset[int]:
    """Return the polls after whose failure a thread may act; from `doomed` blocks it surely does not."""
    polls = (p for p in kernel.events if kernel.cfg.instructions[p].operation.op in POLLS)
    return frozenset(point for point in polls if not _is_repeated(kernel, doomed, point))


def _is_repeated(kernel: Kernel, doomed: frozenset[int], point: int) -> bool:
    cfg = kernel.cfg
    home = cfg.graph.block_of[point]
    polling = Polling(cfg, kernel.definitions)
    events = frozenset(cfg.blocks[home].points) & kernel.events
    if len(events) > 1:
        only_polls = all(cfg.instructions[each].operation.op in POLLS for each in events)
        return only_polls and polling.ends_with_all(home, events)
    busy = kernel.acting_blocks | {cfg.graph.block_of[access] for access in kernel.accesses}
    waiting, seen = [home], set[int]()
    while waiting:
        for edge in polling.after_failure(waiting.pop(), point):
            target = edge.target
            if target == home or edge.kind is EdgeKind.TRAP or target in doomed:
                continue
            if target == cfg.exit or target in busy:
                return False
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return True
