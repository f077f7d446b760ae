"""The control-flow graph of a function: `build(function)` gives blocks, edges and a virtual exit.

Property: every path that a thread can take through the body is a path of the graph. Guarded branches and
terminators end a block; an unconditional one leaves no fall-through edge. A `trap`, or a failed assertion,
has an edge of its own kind, so that analyses can leave aborted runs aside. Where the target of a jump is not
known, the jump has an edge to every labelled block and its point is listed in `Cfg.unknown_targets`.

Not modelled: what a called function does (calls fall through; see `Cfg.calls`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ..ir import (
    Body,
    Directive,
    Function,
    Guard,
    Instruction,
    Label,
    Operand,
    ScopeBegin,
    ScopeEnd,
    Symbol,
)
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from .system_functions import ABORTING


class EdgeKind(Enum):
    """Why control passes from one block to the next."""

    FALL = "fall"
    BRANCH = "branch"
    INDIRECT = "indirect"
    """One target of a jump table."""
    UNKNOWN = "unknown"
    """A possible target of a jump that could not be resolved."""
    EXIT = "exit"
    """To the virtual exit: `ret`, `exit`, or the end of the body."""
    TRAP = "trap"
    """To the virtual exit, the whole grid being aborted."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge. `guard` is what must hold to take it (its own polarity), None when nothing decides."""

    source: int
    target: int
    kind: EdgeKind
    guard: Guard | None = None
    cases: tuple[int, ...] = ()
    """Values of the index that select this target of a jump table."""


@dataclass(frozen=True, slots=True)
class Block:
    """Points `start` to `end` (exclusive) that run one after the other."""

    index: int
    start: int
    end: int

    @property
    def points(self) -> range:
        return range(self.start, self.end)

    @property
    def last(self) -> int:
        """Last point of the block; the block must not be empty."""
        return self.end - 1


@dataclass(frozen=True)
class Graph:
    """Blocks in program order and edges between them; index `len(blocks)` is the virtual exit."""

    function: Function
    instructions: tuple[Instruction, ...]
    blocks: tuple[Block, ...]
    edges: tuple[Edge, ...]
    calls: Mapping[int, str | None]
    """Point of each call with the name of its callee, None for an indirect call."""
    unknown_targets: tuple[int, ...]
    """Points of jumps whose targets could not be resolved."""
    block_of: tuple[int, ...] = field(repr=False)
    """Block of each point."""
    outgoing: tuple[tuple[Edge, ...], ...] = field(repr=False)
    incoming: tuple[tuple[Edge, ...], ...] = field(repr=False)

    @property
    def entry(self) -> int:
        return 0

    @property
    def exit(self) -> int:
        """Index of the virtual exit block, which has no points."""
        return len(self.blocks)


def split(function: Function) -> Graph:
    """Return the blocks and edges of a function with a body."""
    body = function.body
    if body is None:
        raise ValueError(f"{function.name} has no body")
    instructions = body.instructions
    targets = _Targets(body)
    blocks = _blocks(instructions, body)
    block_of = tuple(block.index for block in blocks for _ in block.points)
    edges: list[Edge] = []
    for block in blocks:
        edges.extend(_edges_of(block, instructions, targets, block_of, len(blocks)))
    count = len(blocks) + 1
    outgoing: list[list[Edge]] = [[] for _ in range(count)]
    incoming: list[list[Edge]] = [[] for _ in range(count)]
    for edge in edges:
        outgoing[edge.source].append(edge)
        incoming[edge.target].append(edge)
    return Graph(
        function=function,
        instructions=instructions,
        blocks=blocks,
        edges=tuple(edges),
        calls=_calls(instructions),
        unknown_targets=tuple(sorted({blocks[e.source].last for e in edges if e.kind is EdgeKind.UNKNOWN})),
        block_of=block_of,
        outgoing=tuple(tuple(found) for found in outgoing),
        incoming=tuple(tuple(found) for found in incoming),
    )


def _ends_block(instruction: Instruction) -> bool:
    traits = instruction.operation.traits
    if Trait.BRANCH in traits or Trait.TERMINATOR in traits or instruction.operation.op in _JUMPS:
        return True
    return Trait.CALL in traits and instruction.callee in ABORTING


_JUMPS = frozenset({Op.BRA, Op.BRX_IDX, Op.RET, Op.EXIT, Op.TRAP})


def _blocks(instructions: Sequence[Instruction], body: Body) -> tuple[Block, ...]:
    count = len(instructions)
    starts = {0, *(point for point in body.labels.values() if point < count)}
    starts.update(p + 1 for p, i in enumerate(instructions) if _ends_block(i) and p + 1 < count)
    ordered = sorted(starts)
    ends = [*ordered[1:], count]
    return tuple(Block(n, start, end) for n, (start, end) in enumerate(zip(ordered, ends, strict=True)))


def _edges_of(
    block: Block,
    instructions: Sequence[Instruction],
    targets: _Targets,
    block_of: Sequence[int],
    exit_block: int,
) -> list[Edge]:
    def at(point: int) -> int:
        return block_of[point] if point < len(block_of) else exit_block

    here = block.index
    end = Edge(here, at(block.end), EdgeKind.FALL if block.end < len(block_of) else EdgeKind.EXIT)
    if block.start == block.end or not _ends_block(instructions[block.last]):
        return [end]
    jump = instructions[block.last]
    guard = jump.guard
    edges = [
        Edge(here, exit_block if point is None else at(point), kind, guard, cases)
        for point, kind, cases in targets.of(jump)
    ]
    if guard is not None:
        edges.append(Edge(here, end.target, end.kind, Guard(guard.register, not guard.negated)))
    return edges


_Jump = tuple[int | None, EdgeKind, tuple[int, ...]]


class _Targets:
    """Where jumps of one body go: points, or None for the end of the thread or function."""

    def __init__(self, body: Body) -> None:
        self._labels = body.labels
        self._tables = _jump_tables(body)

    def of(self, jump: Instruction) -> list[_Jump]:
        match jump.operation.op:
            case Op.BRA:
                point = self._point(jump.operands[0] if jump.operands else None)
                return self._unknown() if point is None else [(point, EdgeKind.BRANCH, ())]
            case Op.BRX_IDX:
                return self._table(jump.operands[-1] if jump.operands else None)
            case Op.TRAP | Op.CALL:
                return [(None, EdgeKind.TRAP, ())]
            case Op.RET | Op.EXIT:
                return [(None, EdgeKind.EXIT, ())]
            case _ if Trait.BRANCH in jump.operation.traits:
                return self._unknown()
            case _:
                return [(None, EdgeKind.EXIT, ())]

    def _point(self, target: Operand | None) -> int | None:
        return self._labels.get((target.name, target.scope)) if isinstance(target, Symbol) else None

    def _table(self, table: Operand | None) -> list[_Jump]:
        points = self._tables.get((table.name, table.scope)) if isinstance(table, Symbol) else None
        if points is None:
            return self._unknown()
        cases: dict[int, tuple[int, ...]] = {}
        for index, point in enumerate(points):
            cases[point] = (*cases.get(point, ()), index)
        return [(point, EdgeKind.INDIRECT, indices) for point, indices in cases.items()]

    def _unknown(self) -> list[_Jump]:
        points: list[int | None] = [*sorted(set(self._labels.values()))]
        return [(point, EdgeKind.UNKNOWN, ()) for point in points or [None]]


def _jump_tables(body: Body) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the points of each `.branchtargets` list, by its label and the scope it is declared in."""
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    scopes = [0]
    pending: Label | None = None
    for statement in body.statements:
        match statement:
            case ScopeBegin(scope=scope):
                scopes.append(scope)
            case ScopeEnd():
                scopes.pop()
            case Label():
                pending = statement
            case Directive(keyword=".branchtargets", label=label, names=names):
                points = [_visible(name, scopes, body.labels) for name in names]
                name = label or (pending.name if pending else "")
                known = tuple(point for point in points if point is not None)
                if len(known) == len(points):
                    found[(name, scopes[-1])] = known
            case _:
                pass
    return found


def _visible(name: str, scopes: Sequence[int], labels: Mapping[tuple[str, int], int]) -> int | None:
    for scope in reversed(scopes):
        point = labels.get((name, scope))
        if point is not None:
            return point
    return None


def _calls(instructions: Sequence[Instruction]) -> dict[int, str | None]:
    return {
        point: instruction.callee
        for point, instruction in enumerate(instructions)
        if Trait.CALL in instruction.operation.traits
    }
