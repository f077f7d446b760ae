"""Branches at which threads part, do nothing, and meet again: there they do not part.

Property: the threads of each node go through the same nodes as before, but for some at which nothing happens.

Argument: a node with no events, no question and one target is an internal step of the role. Where all sides of a branch
lead over such steps to one node, in the same round of each loop, and with the same numbers of variables, nobody can
tell them apart: the sides are branching bisimilar (van Glabbeek, Weijland 1996), so one edge stands for all of them.

Registers that threads read on a side are those of `Node.passed`.

Not covered: sides that enter a loop or repeat one, or on which variables get numbers one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..symex.values.trace import ThreadSet
from .nodes import Arrival, Node, Passed, Target


def without_silent_sides(nodes: Sequence[Node]) -> None:
    """Let the threads of a node go on together where all sides of it lead to the same with nothing done."""
    for node in reversed(nodes):
        ends = [_behind(nodes, target) for target in node.targets] if node.sides else []
        if ends and all(end == ends[0] for end in ends) and not node.threads & ~nodes[ends[0].node].threads:
            sides = zip(node.sides, node.targets, strict=True)
            node.passed = tuple(
                each for threads, target in sides for each in _passed(nodes, target, ends[0].node, threads)
            )
            node.sides, node.targets = (node.threads,), (ends[0],)


def _behind(nodes: Sequence[Node], target: Target) -> Target:
    """Return where an edge leads over nodes at which nothing happens."""
    passed: set[int] = set()
    while (
        target.arrival is Arrival.MOVE and _is_silent(own := nodes[target.node]) and target.node not in passed
    ):
        passed.add(target.node)
        onward = own.targets[0]
        both = target.assigned and onward.assigned
        if onward.arrival is not Arrival.MOVE or both or len(own.loops) < len(nodes[onward.node].loops):
            break
        target = Target(onward.node, Arrival.MOVE, target.assigned or onward.assigned)
    return target


def _passed(nodes: Sequence[Node], target: Target, end: int, threads: ThreadSet) -> Iterator[Passed]:
    """Yield the edges between blocks that threads pass on a side, apart for those of further branches on it."""
    if target.node == end or not threads:
        yield threads, ()
        return
    node = nodes[target.node]
    onward = node.targets[0]
    own = () if node.sides else ((node.block, nodes[onward.node].block),)
    for part, edges in node.passed or ((threads, ()),):
        for there, rest in _passed(nodes, onward, end, threads & part):
            yield there, (*own, *edges, *rest)


def _is_silent(node: Node) -> bool:
    """Tell whether threads do nothing at a node, and may go on to one target only."""
    happens = node.events or node.question is not None or node.is_last
    told = node.stored or node.read or node.received
    return not happens and not told and len(node.targets) == 1


__all__ = ["without_silent_sides"]
