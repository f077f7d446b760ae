"""Blocks between a branch and the place where its sides meet again, and blocks from which the grid is aborted.

Property: `between` returns every block that a thread may come to after a branch and before its join, unless it aborts
the grid; from a block of `doomed_blocks` every path aborts the grid before an event.

Argument: the join is the immediate post-dominator, so no path that does not end leaves the blocks between; doomed are
those that lead to an abort and neither to the end of a thread, nor to an event, nor into a dead end.

Not covered: jumps whose targets are not known; the machine stops at them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....cfg.cfg import Cfg
from ....cfg.graph import EdgeKind


@dataclass(frozen=True, slots=True)
class Between:
    """The blocks between a branch and its join."""

    blocks: frozenset[int]
    cyclic: bool
    """They have a loop, or are in one with the branch."""
    ends: bool
    """Threads may end in them."""


def join_of(cfg: Cfg, block: int) -> int:
    """Return the block where the sides of a branch meet: its immediate post-dominator."""
    parent = cfg.postdominators.parent[block]
    return cfg.exit if parent is None else parent


def between(cfg: Cfg, block: int) -> Between:
    """Return the blocks between the branch at the end of a block and its join."""
    join = join_of(cfg, block)
    seen: set[int] = set()
    waiting = list(cfg.successors[block])
    ends = False
    while waiting:
        each = waiting.pop()
        if each == join or each in seen:
            continue
        if each == cfg.exit:
            ends = True
            continue
        seen.add(each)
        waiting.extend(_onward(cfg, each))
    cyclic = block in seen or any(loop.header in seen for loop in cfg.loops if loop.blocks <= seen)
    return Between(frozenset(seen), cyclic or any(seen & each for each in cfg.irreducible), ends)


def _onward(cfg: Cfg, block: int) -> Iterable[int]:
    """Return the blocks that follow, aborts of the grid left out."""
    return (edge.target for edge in cfg.graph.outgoing[block] if edge.kind is not EdgeKind.TRAP)


def doomed_blocks(cfg: Cfg, acting: frozenset[int]) -> frozenset[int]:
    """Return the blocks from which every path aborts the grid before anything is synchronised."""
    live: set[int] = {cfg.exit, *acting}
    waiting = list(live)
    for block in range(len(cfg.blocks)):
        targets = list(_onward(cfg, block))
        if not targets and not cfg.graph.outgoing[block]:
            live.add(block)
            waiting.append(block)
    while waiting:
        target = waiting.pop()
        for edge in cfg.graph.incoming[target]:
            if edge.kind is not EdgeKind.TRAP and edge.source not in live:
                live.add(edge.source)
                waiting.append(edge.source)
    aborting = {edge.source for edge in cfg.graph.incoming[cfg.exit] if edge.kind is EdgeKind.TRAP}
    waiting = list(aborting)
    while waiting:
        for edge in cfg.graph.incoming[waiting.pop()]:
            if edge.source not in aborting:
                aborting.add(edge.source)
                waiting.append(edge.source)
    return frozenset(aborting) - live
