"""Natural loops, their nesting, and irreducible regions.

Property: a loop is the set of blocks that reach one of its latches without passing its header, where each
latch has an edge to the header and the header dominates it. Loops of one header are one loop. A cycle that
is entered at more than one block is no natural loop: the strongly connected region around it is listed in
`LoopForest.irreducible`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .dominance import DominatorTree


@dataclass(frozen=True, slots=True)
class Loop:
    """One natural loop, by block indices. `parent` and `depth` (1 = outermost) say how loops nest."""

    index: int
    header: int
    blocks: frozenset[int] = field(repr=False)
    latches: tuple[int, ...]
    exits: tuple[tuple[int, int], ...]
    """Edges that leave the loop, as (block inside, block outside)."""
    parent: int | None
    depth: int


@dataclass(frozen=True, slots=True)
class LoopForest:
    """All loops, outer before inner, and the innermost loop of each block."""

    loops: tuple[Loop, ...]
    innermost: tuple[int | None, ...] = field(repr=False)
    irreducible: tuple[frozenset[int], ...]
    """Blocks of each region that is cyclic without a single entry."""


def find_loops(
    tree: DominatorTree, successors: Sequence[Sequence[int]], predecessors: Sequence[Sequence[int]]
) -> LoopForest:
    """Return the loops of the graph that `tree` is the dominator tree of."""
    latches, irreducible = _back_edges(tree, successors)
    bodies = {header: _body(header, sources, predecessors, tree) for header, sources in latches.items()}
    rank = {node: position for position, node in enumerate(tree.order)}
    headers = sorted(bodies, key=lambda header: (-len(bodies[header]), rank[header]))
    loops: list[Loop] = []
    innermost: list[int | None] = [None] * len(successors)
    for index, header in enumerate(headers):
        blocks = bodies[header]
        parent = innermost[header]
        exits = tuple((b, s) for b in sorted(blocks) for s in successors[b] if s not in blocks)
        depth = 1 if parent is None else loops[parent].depth + 1
        loops.append(Loop(index, header, blocks, tuple(sorted(latches[header])), exits, parent, depth))
        for block in blocks:
            innermost[block] = index
    return LoopForest(tuple(loops), tuple(innermost), _regions(irreducible, tree, successors))


def _back_edges(
    tree: DominatorTree, successors: Sequence[Sequence[int]]
) -> tuple[dict[int, list[int]], list[tuple[int, int]]]:
    """Return the latches of each header, and the retreating edges that are no back edges."""
    rank = {node: position for position, node in enumerate(tree.order)}
    latches: dict[int, list[int]] = {}
    irreducible: list[tuple[int, int]] = []
    for node in tree.order:
        for target in dict.fromkeys(successors[node]):
            if rank[target] > rank[node]:
                continue
            if tree.dominates(target, node):
                latches.setdefault(target, []).append(node)
            else:
                irreducible.append((node, target))
    return latches, irreducible


def _body(
    header: int, latches: Sequence[int], predecessors: Sequence[Sequence[int]], tree: DominatorTree
) -> frozenset[int]:
    blocks = {header}
    work = list(latches)
    while work:
        block = work.pop()
        if block not in blocks and tree.reached(block):
            blocks.add(block)
            work.extend(predecessors[block])
    return frozenset(blocks)


def _regions(
    edges: Sequence[tuple[int, int]], tree: DominatorTree, successors: Sequence[Sequence[int]]
) -> tuple[frozenset[int], ...]:
    """Return the cyclic regions that remain without the back edges of natural loops."""
    if not edges:
        return ()
    forward = [[t for t in targets if not tree.dominates(t, n)] for n, targets in enumerate(successors)]
    regions: dict[int, frozenset[int]] = {}
    for component in strong_components(tree.order, forward):
        region = frozenset(component)
        regions.update((node, region) for node in component)
    return tuple(dict.fromkeys(regions[source] for source, _ in edges))


def strong_components(nodes: Sequence[int], successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components (Tarjan), each after all components it reaches."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    pending: list[int] = []
    waiting: set[int] = set()
    found: list[list[int]] = []
    for root in nodes:
        stack: list[tuple[int, int]] = [] if root in number else [(root, 0)]
        while stack:
            node, at = stack.pop()
            if at == 0:
                number[node] = low[node] = len(number)
                pending.append(node)
                waiting.add(node)
            elif successors[node][at - 1] in waiting:
                low[node] = min(low[node], low[successors[node][at - 1]])
            if at < len(successors[node]):
                stack.append((node, at + 1))
                if successors[node][at] not in number:
                    stack.append((successors[node][at], 0))
            elif low[node] == number[node]:
                found.append(_pop_component(node, pending, waiting))
    return found


def _pop_component(root: int, pending: list[int], waiting: set[int]) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != root:
        component.append(pending.pop())
    waiting.difference_update(component)
    return component
