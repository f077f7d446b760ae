"""Which definition of a register reaches a point: static single assignment names, computed on demand.

Property: a `Name` stands for one definition: an instruction, the merge of several at the start of a block
(phi), or the state on entry. At a point that a name reaches, the register holds what the latest execution of
that definition left in it. A guarded definition is a definition too; it keeps the old value when its guard is
false, so readers must look at `Definitions.before` as well. Registers with one definition, nearly all in
compiled code, cost one look-up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ..ir import (
    Component,
    Instruction,
    Operand,
    Pair,
    Register,
    Vector,
    registers_of,
)
from ..opcodes.spec import Direction, Operation
from .cfg import Cfg
from .graph import Edge

ENTRY = -1


class Name(NamedTuple):
    """One definition of a register: `site` is a point, `ENTRY`, or -2 - block for a phi."""

    register: Register
    site: int

    @property
    def phi_block(self) -> int | None:
        return -2 - self.site if self.site < ENTRY else None


class Definitions:
    """Reaching definitions of one function."""

    def __init__(self, cfg: Cfg) -> None:
        self._cfg = cfg
        self._phis: dict[Register, dict[int, Name]] = {}
        self._read: list[tuple[Name, ...] | None] = [None] * len(cfg.instructions)

    @cached_property
    def sites(self) -> Mapping[Register, tuple[int, ...]]:
        """Points that define each register, in order; unreachable ones left out."""
        plans: dict[Operation, tuple[int, ...] | None] = {}
        found: dict[Register, list[int]] = {}
        for block in self._cfg.blocks:
            if not self._cfg.dominators.reached(block.index):
                continue
            for point in block.points:
                instruction = self._cfg.instructions[point]
                for register in _written(instruction, plans):
                    points = found.get(register)
                    if points is None:
                        found[register] = [point]
                    elif points[-1] != point:
                        points.append(point)
        return {register: tuple(points) for register, points in found.items()}

    def before(self, point: int, register: Register) -> Name:
        """Return the name that a read of the register at the point sees."""
        sites = self.sites.get(register)
        if sites is None:
            return Name(register, ENTRY)
        if len(sites) == 1 and sites[0] != point and self._cfg.dominates(sites[0], point):
            return Name(register, sites[0])
        block = self._cfg.block_at(point)
        at = bisect_left(sites, point)
        if at and sites[at - 1] >= block.start:
            return Name(register, sites[at - 1])
        return self._entering(block.index, register, sites)

    def read_at(self, point: int) -> tuple[Name, ...]:
        """Return the names that the instruction at the point reads, its guard's first."""
        names = self._read[point]
        if names is None:
            registers = dict.fromkeys(self._cfg.instructions[point].reads())
            names = self._read[point] = tuple(self.before(point, register) for register in registers)
        return names

    def leaving(self, block: int, register: Register) -> Name:
        """Return the name that the register has at the end of a block."""
        sites = self.sites.get(register)
        if sites is None:
            return Name(register, ENTRY)
        at = bisect_left(sites, self._cfg.blocks[block].end)
        if at and sites[at - 1] >= self._cfg.blocks[block].start:
            return Name(register, sites[at - 1])
        return self._entering(block, register, sites)

    def merged(self, name: Name) -> tuple[tuple[Edge, Name], ...]:
        """Return the names that a phi merges, with the edges they come in by."""
        block = name.phi_block
        assert block is not None
        reached = self._cfg.dominators.reached
        edges = (edge for edge in self._cfg.edges_into(block) if reached(edge.source))
        found = [(edge, self.leaving(edge.source, name.register)) for edge in edges]
        if block == self._cfg.order[0]:
            found.append(
                (Edge(block, block, self._cfg.edges_into(block)[0].kind), Name(name.register, ENTRY))
            )
        return tuple(found)

    def instructions_behind(self, name: Name) -> tuple[int, ...]:
        """Return the points whose results the name may hold, guarded and merged ones resolved, in order."""
        seen: set[Name] = set()
        work = [name]
        while work:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            if current.phi_block is not None:
                work.extend(source for _, source in self.merged(current))
            elif current.site >= 0 and self._cfg.instructions[current.site].guard is not None:
                work.append(self.before(current.site, current.register))
        return tuple(sorted({n.site for n in seen if n.site >= 0}))

    def computed_from(
        self, names: Iterable[Name], operands: Callable[[int], Iterable[Register]]
    ) -> Iterator[int]:
        """Yield the points that names come from through data, each once; `operands` are what to follow of a point."""
        waiting, seen = list(names), set[int]()
        while waiting:
            fresh = set(self.instructions_behind(waiting.pop())) - seen
            seen |= fresh
            for point in fresh:
                yield point
                waiting.extend(self.before(point, register) for register in operands(point))

    def block_of(self, name: Name) -> int:
        """Return the block at whose point or start the name is defined."""
        if name.site >= 0:
            return self._cfg.block_at(name.site).index
        return 0 if name.phi_block is None else name.phi_block

    def _entering(self, block: int, register: Register, sites: tuple[int, ...]) -> Name:
        names = self._phis.get(register)
        if names is None:
            names = self._phis[register] = self._place(register, sites)
        passed: list[int] = []
        current: int | None = block
        while current is not None:
            known = self._last_in(current, register, sites) if passed else None
            known = known or names.get(current)
            if known is not None:
                break
            passed.append(current)
            current = self._cfg.dominators.parent[current]
        else:
            known = Name(register, ENTRY)
        for visited in passed:
            names[visited] = known
        return known

    def _last_in(self, block: int, register: Register, sites: tuple[int, ...]) -> Name | None:
        at = bisect_left(sites, self._cfg.blocks[block].end)
        found = at and sites[at - 1] >= self._cfg.blocks[block].start
        return Name(register, sites[at - 1]) if found else None

    def _place(self, register: Register, sites: tuple[int, ...]) -> dict[int, Name]:
        """Return the phis of a register: the iterated dominance frontier of its definitions."""
        frontiers = self._cfg.frontiers
        work = list(dict.fromkeys(self._cfg.graph.block_of[site] for site in sites))
        phis: dict[int, Name] = {}
        while work:
            for block in sorted(frontiers[work.pop()]):
                if block not in phis:
                    phis[block] = Name(register, -2 - block)
                    work.append(block)
        return phis


def _written(instruction: Instruction, plans: dict[Operation, tuple[int, ...] | None]) -> Iterator[Register]:
    """Yield the written registers, like `Instruction.writes` but with the work per operation done once."""
    operation = instruction.operation
    if operation not in plans:
        plans[operation] = _plan(operation, len(instruction.operands))
    plan = plans[operation]
    if plan is None:
        yield from instruction.writes()
        return
    for index in plan:
        operand = instruction.operands[index]
        if type(operand) is Register:
            yield operand
        elif isinstance(operand, Pair):
            yield from instruction.writes()
        elif isinstance(operand, (Vector, Component)):
            yield from registers_of(operand)


def _plan(operation: Operation, count: int) -> tuple[int, ...] | None:
    specs = operation.operand_specs
    if len(specs) != count:
        return None
    written = (Direction.WRITE, Direction.READ_WRITE)
    return tuple(
        index
        for index, spec in enumerate(specs)
        if spec.direction in written or (spec.second is not None and spec.second.direction in written)
    )


def part_of(operand: Operand, register: Register) -> int:
    """Return which element of a destination a register is."""
    match operand:
        case Vector(elements=elements):
            return next((n for n, element in enumerate(elements) if element == register), 0)
        case Pair(second=second):
            return int(second == register)
        case _:
            return 0


__all__ = ["ENTRY", "Definitions", "Name", "part_of"]
