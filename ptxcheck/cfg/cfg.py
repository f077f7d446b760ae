"""`Cfg`: the graph of one function with dominance, loops and reachability, asked by program point.

Post-dominance speaks of runs that end normally: a path into a `trap` or into a loop that never ends does not
keep the code behind a branch from post-dominating it. Inside such a region, post-dominance is relative to
the trap, or to one block of the endless loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..ir import Function, Instruction, Register
from ..opcodes.op import Op
from .dominance import DominatorTree, dominator_tree, reverse_postorder
from .graph import (
    Block,
    Edge,
    EdgeKind,
    Graph,
    split,
)
from .loops import (
    Loop,
    LoopForest,
    find_loops,
    strong_components,
)


@dataclass(frozen=True, slots=True)
class ControlDependence:
    """A block runs only when the jump that ends block `branch` goes to block `target`."""

    branch: int
    target: int


@dataclass(frozen=True)
class Cfg:
    """Control flow of one function. Points index `instructions`; blocks index `blocks`."""

    graph: Graph

    @property
    def function(self) -> Function:
        return self.graph.function

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        return self.graph.instructions

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.graph.blocks

    @property
    def exit(self) -> int:
        """The virtual exit block."""
        return self.graph.exit

    @cached_property
    def _by_operation(self) -> Mapping[Op, list[int]]:
        found: dict[Op, list[int]] = {}
        for point, instruction in enumerate(self.instructions):
            found.setdefault(instruction.operation.op, []).append(point)
        return found

    def points_of(self, operations: Iterable[Op]) -> list[int]:
        """Return the points of some operations, in order."""
        return sorted(point for op in operations for point in self._by_operation.get(op, ()))

    def block_at(self, point: int) -> Block:
        return self.graph.blocks[self.graph.block_of[point]]

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """Blocks after each block, without repetition; the last entry is the virtual exit's."""
        return tuple(tuple(dict.fromkeys(e.target for e in out)) for out in self.graph.outgoing)

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(dict.fromkeys(e.source for e in into)) for into in self.graph.incoming)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Blocks that the entry reaches, in reverse post-order, the virtual exit among them."""
        return self.dominators.order

    @cached_property
    def dominators(self) -> DominatorTree:
        return dominator_tree(0 if self.blocks else self.exit, self.successors, self.predecessors)

    @cached_property
    def postdominators(self) -> DominatorTree:
        """Dominator tree of the reversed graph, rooted at the virtual exit (see the module)."""
        forward = _ending_edges(self)
        backward: list[list[int]] = [[] for _ in forward]
        for node, targets in enumerate(forward):
            for target in targets:
                backward[target].append(node)
        return dominator_tree(self.exit, backward, forward)

    @cached_property
    def frontiers(self) -> tuple[frozenset[int], ...]:
        """Dominance frontier of each block."""
        return self.dominators.frontier(self.predecessors)

    @cached_property
    def control(self) -> tuple[tuple[ControlDependence, ...], ...]:
        """For each block the branch edges that it is directly control dependent on."""
        tree = self.postdominators
        found: list[dict[ControlDependence, None]] = [{} for _ in self.successors]
        for block, targets in enumerate(self.successors):
            if len(targets) < 2:
                continue
            for target in targets:
                runner: int | None = target
                while runner is not None and runner not in (tree.parent[block], self.exit):
                    found[runner][ControlDependence(block, target)] = None
                    runner = tree.parent[runner]
        return tuple(tuple(items) for items in found)

    @cached_property
    def loop_forest(self) -> LoopForest:
        return find_loops(self.dominators, self.successors, self.predecessors)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """All natural loops, outer before inner."""
        return self.loop_forest.loops

    @property
    def irreducible(self) -> tuple[frozenset[int], ...]:
        return self.loop_forest.irreducible

    @property
    def calls(self) -> dict[int, str | None]:
        """Points of calls with the callee's name (None: indirect)."""
        return dict(self.graph.calls)

    @cached_property
    def exits(self) -> tuple[int, ...]:
        """Points after which a thread may end the function normally; also where the body just ends."""
        blocks = (
            self.blocks[e.source] for e in self.graph.incoming[self.exit] if e.kind is not EdgeKind.TRAP
        )
        return tuple(sorted({block.last for block in blocks if block.start < block.end}))

    @cached_property
    def traps(self) -> tuple[int, ...]:
        into = self.graph.incoming[self.exit]
        return tuple(sorted({self.blocks[e.source].last for e in into if e.kind is EdgeKind.TRAP}))

    def connected(self, point: int) -> bool:
        """Tell whether any path leads from the entry to the point."""
        return self.dominators.reached(self.graph.block_of[point])

    def dominates(self, p: int, q: int) -> bool:
        """Tell whether every path from the entry to `q` passes `p` (reflexive; guards are not looked at)."""
        a, b = self.graph.block_of[p], self.graph.block_of[q]
        return p <= q if a == b else self.dominators.dominates(a, b)

    def postdominates(self, p: int, q: int) -> bool:
        """Tell whether every path from `q` to the end passes `p` (reflexive; guards are not looked at)."""
        a, b = self.graph.block_of[p], self.graph.block_of[q]
        return p >= q if a == b else self.postdominators.dominates(a, b)

    def reaches(self, p: int, q: int) -> bool:
        """Tell whether control can pass `q` some time after it has passed `p`."""
        a, b = self.graph.block_of[p], self.graph.block_of[q]
        return (a == b and p < q) or bool(self._reachable[a] >> b & 1)

    def jump_index(self, edge: Edge) -> Register | None:
        """Return the register whose number selects an edge out of a jump table."""
        if edge.kind is not EdgeKind.INDIRECT:
            return None
        index = self.instructions[self.blocks[edge.source].last].operands[0]
        return index if isinstance(index, Register) else None

    def ends(self, block: int) -> bool:
        """Tell whether any path leads from a block to the virtual exit, traps included."""
        return self.leads_to(block, self.exit)

    def leads_to(self, block: int, other: int) -> bool:
        """Tell whether a block is another one, or any path leads from it there."""
        return block == other or bool(self._reachable[block] >> other & 1)

    def loop_of(self, point: int) -> Loop | None:
        """Return the innermost natural loop around a point."""
        index = self.loop_forest.innermost[self.graph.block_of[point]]
        return None if index is None else self.loops[index]

    def loops_around(self, block: int) -> tuple[Loop, ...]:
        """Return the loops around a block, innermost first."""
        found: list[Loop] = []
        index = self.loop_forest.innermost[block]
        while index is not None:
            found.append(self.loops[index])
            index = self.loops[index].parent
        return tuple(found)

    def edges_from(self, block: int) -> tuple[Edge, ...]:
        return self.graph.outgoing[block]

    def edges_into(self, block: int) -> tuple[Edge, ...]:
        return self.graph.incoming[block]

    @cached_property
    def _reachable(self) -> tuple[int, ...]:
        """Set of blocks, as bits, that each block reaches by at least one edge."""
        bits = [0] * len(self.successors)
        for component in strong_components(range(len(self.successors)), self.successors):
            cyclic = len(component) > 1 or component[0] in self.successors[component[0]]
            members = sum(1 << node for node in component) if cyclic else 0
            for node in component:
                for target in self.successors[node]:
                    members |= bits[target] | 1 << target
            for node in component:
                bits[node] = members
        return tuple(bits)


def build(function: Function) -> Cfg:
    """Return the control-flow graph of a function with a body. Raises ValueError without one."""
    return Cfg(split(function))


def _ending_edges(cfg: Cfg) -> list[list[int]]:
    """Return the edges that post-dominance looks at: each block has a path to the exit, aborts aside."""
    forward: list[list[int]] = [[] for _ in cfg.successors]
    for edge in cfg.graph.edges:
        if edge.kind is not EdgeKind.TRAP and edge.target not in forward[edge.source]:
            forward[edge.source].append(edge.target)
    ending = _reaching(cfg.exit, forward)
    result = [
        [t for t in targets if t in ending] if n in ending else targets for n, targets in enumerate(forward)
    ]
    for edge in cfg.graph.incoming[cfg.exit]:
        if edge.kind is EdgeKind.TRAP and edge.source not in ending:
            result[edge.source] = [*result[edge.source], cfg.exit]
    ending = _reaching(cfg.exit, result)
    for component in strong_components(range(len(result)), result):
        if not ending.intersection(component) and all(t in component for n in component for t in result[n]):
            last = max(component)
            result[last] = [*result[last], cfg.exit]
    return result


def _reaching(target: int, forward: list[list[int]]) -> frozenset[int]:
    backward: list[list[int]] = [[] for _ in forward]
    for node, targets in enumerate(forward):
        for successor in targets:
            backward[successor].append(node)
    return frozenset(reverse_postorder(target, backward))
