"""The shape of the code between a branch and its join, as far as registers behind it depend on it.

Property: registers behind the join depend on nothing that is not in the outline.

Argument: instructions are those that ways out and live registers depend on, to a fixed point; branches that nothing
depends on are passed by.

Not covered: irreducible code, jumps out of the region, and outlines of more than `_MOST_POINTS` instructions: these
have none.

Blocks are nodes: node 0 is the branch, the last one its join, and the block of the branch is a node besides where the
code comes back to it. Numbers of nodes follow from the way through them, so that copies of one loop have the same:
blocks with one way in and one way out have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ....cfg.cfg import Cfg
from ....cfg.dominance import dominator_tree
from ....cfg.graph import EdgeKind
from ....cfg.loops import find_loops
from ....cfg.special import special_name
from ....ir import Guard, Register
from .branch_sides import join_of

_MOST_POINTS = 4000
_NOWHERE = -1
"""Target of a way on which the grid is aborted."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way out of a node."""

    target: int
    guard: Guard | None = None
    cases: tuple[int, ...] = ()
    index: Register | None = None
    """What selects the cases of a jump table."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Nodes, and what is run in each of them."""

    ways: tuple[tuple[Way, ...], ...]
    sources: tuple[tuple[int, ...], ...]
    """Nodes that lead to each node, in an order that copies share; twice where two ways do."""
    points: tuple[tuple[int, ...], ...]
    """Instructions that matter, in order."""
    live: tuple[tuple[Register, ...], ...]
    """Registers that are read from the start of each node on."""
    order: tuple[int, ...]
    """Each node before those that it leads to, but for loops."""
    latches: Mapping[int, frozenset[int]]
    """Nodes that lead back to each header of a loop."""
    parents: tuple[int | None, ...]
    """The immediate dominator of each node."""
    numbers: tuple[int, ...]
    """Number of each node; a node without one has that of the node it leads to."""

    @property
    def join(self) -> int:
        return len(self.ways) - 1


def outline(
    cfg: Cfg, sliced: AbstractSet[int], blocks: tuple[int, ...], results: frozenset[Register]
) -> Outline | None:
    """Return the outline of the code behind a branch, None when it has none.

    `blocks` are that of the branch, those of its region, and its join; `sliced` are the points that matter anywhere,
    and `results` the registers that are read behind the join.
    """
    ways = _ways(cfg, sliced, blocks)
    if ways is None:
        return None
    points, live = _relevant(cfg, blocks, ways, results)
    if sum(map(len, points)) > _MOST_POINTS:
        return None
    after = [[way.target for way in out if way.target != _NOWHERE] for out in ways]
    before: list[list[int]] = [[] for _ in ways]
    for node, targets in enumerate(after):
        for target in targets:
            before[target].append(node)
    tree = dominator_tree(0, after, before)
    forest = find_loops(tree, after, before)
    if forest.irreducible or not tree.reached(len(blocks) - 1):
        return None
    latches = {loop.header: frozenset(loop.latches) for loop in forest.loops}
    numbers, sources = _numbered(ways, before)
    return Outline(ways, sources, points, live, tree.order, latches, tree.parent, numbers)


def _ways(cfg: Cfg, sliced: AbstractSet[int], blocks: tuple[int, ...]) -> tuple[tuple[Way, ...], ...] | None:
    """Return the ways out of each node, None where one leaves the region; what nothing depends on is passed by."""
    nodes = {each: number for number, each in enumerate(blocks) if number}
    found: list[tuple[Way, ...]] = []
    for number, each in enumerate(blocks[:-1]):
        edges = cfg.graph.outgoing[each]
        if number and len(edges) > 1 and cfg.blocks[each].last not in sliced:
            target = nodes.get(join_of(cfg, each))
            if target is None:
                return None
            found.append((Way(target),))
            continue
        out: list[Way] = []
        for edge in edges:
            target = _NOWHERE if edge.kind is EdgeKind.TRAP else nodes.get(edge.target)
            index = cfg.jump_index(edge)
            if target is None or edge.kind is EdgeKind.UNKNOWN or (edge.cases and index is None):
                return None
            out.append(Way(target, edge.guard, edge.cases, index))
        found.append(tuple(out))
    return (*found, ())


def _relevant(
    cfg: Cfg, blocks: tuple[int, ...], ways: tuple[tuple[Way, ...], ...], results: frozenset[Register]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[Register, ...], ...]]:
    """Return the instructions of each node that ways and results depend on, and what is live at its start."""
    last = len(blocks) - 1
    live: list[frozenset[Register]] = [frozenset()] * last + [results]
    points: list[tuple[int, ...]] = [()] * len(blocks)
    changed = True
    while changed:
        changed = False
        for node in range(last - 1, -1, -1):
            wanted = {register for way in ways[node] for register in _read_by(way)}
            for way in ways[node]:
                if way.target != _NOWHERE:
                    wanted |= live[way.target]
            taken: list[int] = []
            for point in reversed(cfg.blocks[blocks[node]].points if node else ()):
                instruction = cfg.instructions[point]
                written = set(instruction.writes())
                if written & wanted:
                    taken.append(point)
                    if instruction.guard is None:
                        wanted -= written
                    wanted |= {each for each in instruction.reads() if special_name(each) is None}
            if wanted != live[node]:
                live[node], changed = frozenset(wanted), True
            points[node] = tuple(reversed(taken))
    return tuple(points), tuple(tuple(sorted(each)) for each in live)


def _read_by(way: Way) -> Iterator[Register]:
    if way.guard is not None:
        yield way.guard.register
    if way.index is not None:
        yield way.index


def _numbered(
    ways: tuple[tuple[Way, ...], ...], before: list[list[int]]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return the number of each node, and the nodes that lead to it by the numbers of the ways there."""
    numbers: dict[int, int] = {}
    sources: list[list[int]] = [[] for _ in ways]
    waiting, seen = [0], {0}
    while waiting:
        node = waiting.pop(0)
        numbers[node] = len(numbers)
        for way in ways[node]:
            come_from, target = node, way.target
            while target != _NOWHERE and len(before[target]) == 1 and len(ways[target]) == 1:
                sources[target].append(come_from)
                come_from, target = target, ways[target][0].target
            if target == _NOWHERE:
                continue
            sources[target].append(come_from)
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    found = [numbers.get(node, _NOWHERE) for node in range(len(ways))]
    for node in range(len(ways)):
        at = node
        while found[at] == _NOWHERE and ways[at] and ways[at][0].target != _NOWHERE:
            at = ways[at][0].target
        found[node] = found[at]
    return tuple(found), tuple(map(tuple, sources))


__all__ = ["Outline", "Way", "outline"]
