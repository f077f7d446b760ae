"""Dominator trees after Cooper, Harvey and Kennedy, with constant-time queries.

Property: `tree.dominates(a, b)` holds exactly when every path from the root to `b` passes `a`. Nodes that the
root does not reach have no parent, dominate nothing but themselves and are dominated by nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class DominatorTree:
    """Immediate dominators of nodes 0 to n-1; `parent` is None for the root and unreached nodes."""

    root: int
    parent: tuple[int | None, ...]
    order: tuple[int, ...] = field(repr=False)
    """Reached nodes in reverse post-order."""

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.parent]
        for node in self.order:
            parent = self.parent[node]
            if parent is not None:
                found[parent].append(node)
        return tuple(tuple(nodes) for nodes in found)

    @cached_property
    def _times(self) -> tuple[tuple[int, int], ...]:
        """First and last time of each node in a walk of the tree; (-1, -1) when not reached."""
        times = [(-1, -1)] * len(self.parent)
        opened = [0] * len(self.parent)
        clock = 0
        stack: list[tuple[int, bool]] = [(self.root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                times[node] = (opened[node], clock)
                continue
            clock += 1
            opened[node] = clock
            stack.append((node, True))
            stack.extend((child, False) for child in self.children[node])
        return tuple(times)

    def reached(self, node: int) -> bool:
        return node == self.root or self.parent[node] is not None

    def dominates(self, a: int, b: int) -> bool:
        """Tell whether every path from the root to `b` passes `a` (reflexive)."""
        if a == b:
            return True
        first, last = self._times[a]
        time = self._times[b][0]
        return first != -1 and first <= time <= last

    def frontier(self, predecessors: Sequence[Sequence[int]]) -> tuple[frozenset[int], ...]:
        """Return the dominance frontier of each node."""
        found: list[set[int]] = [set() for _ in self.parent]
        for node in self.order:
            sources = [p for p in predecessors[node] if self.reached(p)]
            if len(sources) < 2 and not (node == self.root and sources):
                continue
            for source in sources:
                runner: int | None = source
                while runner is not None and runner != self.parent[node]:
                    found[runner].add(node)
                    runner = self.parent[runner]
        return tuple(frozenset(nodes) for nodes in found)


def reverse_postorder(root: int, successors: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the nodes that `root` reaches, each before its successors except along back edges."""
    seen = [False] * len(successors)
    seen[root] = True
    finished: list[int] = []
    stack: list[tuple[int, int]] = [(root, 0)]
    while stack:
        node, at = stack[-1]
        if at < len(successors[node]):
            stack[-1] = (node, at + 1)
            target = successors[node][at]
            if not seen[target]:
                seen[target] = True
                stack.append((target, 0))
        else:
            stack.pop()
            finished.append(node)
    return tuple(reversed(finished))


def dominator_tree(
    root: int, successors: Sequence[Sequence[int]], predecessors: Sequence[Sequence[int]]
) -> DominatorTree:
    """Return the dominator tree of a graph given by both its adjacency lists."""
    order = reverse_postorder(root, successors)
    rank = [-1] * len(successors)
    for position, node in enumerate(order):
        rank[node] = position
    parent: list[int | None] = [None] * len(successors)
    parent[root] = root

    def meet(a: int, b: int) -> int:
        while a != b:
            while rank[a] > rank[b]:
                a = _known(parent[a])
            while rank[b] > rank[a]:
                b = _known(parent[b])
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            best: int | None = None
            for source in predecessors[node]:
                if rank[source] >= 0 and parent[source] is not None:
                    best = source if best is None else meet(source, best)
            if best != parent[node]:
                parent[node] = best
                changed = True
    parent[root] = None
    return DominatorTree(root, tuple(parent), order)


def _known(node: int | None) -> int:
    assert node is not None
    return node
