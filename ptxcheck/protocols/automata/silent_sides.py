"""Branches at which threads part, do nothing, and meet again: there they do not part.

Property: the threads of each node go through the same nodes as before, but for some at which nothing happens.

Argument: a node with no events, no question and one target is an internal step of the role. Where all sides of a branch
lead over such steps to one node, in the same round of each loop, and with the same numbers of variables, nobody can
tell them apart: the sides are branching bisimilar (van Glabbeek, Weijland 1996), so one edge stands for all of them.

Not covered: sides that enter a loop or repeat one, or on which variables get numbers one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from .nodes import Arrival, Node, Target


def without_silent_sides(nodes: Sequence[Node]) -> None:
    """Let the threads of a node go on together where all sides of it lead to the same with nothing done."""
    for node in reversed(nodes):
        if node.sides:
            common = _common(nodes, node)
            if common is not None:
                node.sides, node.targets = (node.threads,), (common,)


def _common(nodes: Sequence[Node], node: Node) -> Target | None:
    """Return what all sides of a node lead to; None where they do something, or lead to different places."""
    first, *others = (_behind(nodes, node, target) for target in node.targets)
    is_same = all(other == first for other in others)
    return first if is_same and not node.threads & ~nodes[first.node].threads else None


def _behind(nodes: Sequence[Node], node: Node, target: Target) -> Target:
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


def _is_silent(node: Node) -> bool:
    """Tell whether threads do nothing at a node, and may go on to one target only."""
    happens = node.events or node.question is not None or node.is_last
    told = node.stored or node.read or node.received
    return not happens and not told and len(node.targets) == 1


__all__ = ["without_silent_sides"]
