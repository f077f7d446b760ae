"""Loops that compute the same: what each of several roles works out for itself by the same code.

Roles of a kernel often look for their next tile on their own: each runs a copy of one loop over tables of the host.
What such a loop leaves in a register follows from its code and from what it starts with, as long as it only computes
and reads memory that no thread of the kernel is taken to write. So results are named by the code, up to the numbering
of its registers, blocks and labels, and by what it starts with: equal names are equal numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...cfg.definitions import Name
from ...cfg.special import changes, special_name
from ...ir import Address, Component, Instruction, Negated, Operand, Pair, Register, Symbol, Vector
from ...spec import Trait
from .accesses import is_strong

if TYPE_CHECKING:
    from .program import Program, Region

_MUST_NOT = frozenset({Trait.VOLATILE, Trait.ATOMIC, Trait.CALL, Trait.CROSS_LANE})
_OUTSIDE = (".global", ".const", ".param")


@dataclass(frozen=True, slots=True)
class Code:
    """What computes one register: text without names, and what it starts with."""

    text: tuple[object, ...]
    inputs: tuple[Register | Component, ...]


def code_behind(program: Program, block: int, region: Region, register: Register) -> Code | None:
    """Return what gives a register its value behind a branch and its region, None when that is not code alone."""
    join = program.cfg.blocks[program.join(block)]
    if not join.points:
        return None
    points, inputs = _slice(program, region, program.definitions.before(join.start, register))
    if not all(_is_code(program.cfg.instructions[point]) for point in points):
        return None
    return _Encoder(program, region, points).encode(block, register, inputs)


def _slice(program: Program, region: Region, result: Name) -> tuple[frozenset[int], frozenset[Register]]:
    """Return the points of a region that a name depends on, branches included, and what they read from before it."""
    cfg, definitions = program.cfg, program.definitions
    branches = [cfg.blocks[each].last for each in region.blocks if len(cfg.graph.outgoing[each]) > 1]
    names = [result, *(name for point in branches for name in definitions.read_at(point))]
    points, inputs, seen = set(branches), set[Register](), set[Name]()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        sites = definitions.instructions_behind(name)
        inside = [site for site in sites if cfg.graph.block_of[site] in region.blocks]
        if len(inside) < max(len(sites), 1):
            inputs.add(name.register)
        for site in inside:
            points.add(site)
            names.extend(definitions.read_at(site))
    return frozenset(points), frozenset(inputs)


def _is_code(instruction: Instruction) -> bool:
    operation = instruction.operation
    if Trait.BRANCH in operation.traits:
        return True
    if Trait.LOAD in operation.traits:
        space = operation.slots.get("space", "")
        return space.startswith(_OUTSIDE) and not is_strong(operation)
    return Trait.PURE in operation.traits and _MUST_NOT.isdisjoint(operation.traits)


class _Encoder:
    """Numbers registers and blocks in the order in which the code comes to them."""

    def __init__(self, program: Program, region: Region, points: frozenset[int]) -> None:
        self._cfg = program.cfg
        self._region = region
        self._points = points
        self._registers: dict[Register, int] = {}
        self._specials: dict[str, Register | Component] = {}

    def encode(self, block: int, register: Register, inputs: frozenset[Register]) -> Code | None:
        order = self._order(block)
        numbers = {each: number for number, each in enumerate(order)}
        text: list[object] = []
        for each in order:
            if each != block:
                text.extend(
                    self._instruction(point)
                    for point in self._cfg.blocks[each].points
                    if point in self._points
                )
            edges = self._cfg.graph.outgoing[each]
            text.append(
                tuple(
                    (numbers.get(e.target, -1), e.kind.name, self._guarded(e.guard), e.cases) for e in edges
                )
            )
        if None in text:
            return None
        text.append(self._number(register))
        starts = sorted(sorted(inputs, key=lambda each: (each.scope, each.name)), key=self._number)
        text.append(tuple(map(self._number, starts)))
        return Code(tuple(text), (*starts, *self._specials.values()))

    def _order(self, block: int) -> list[int]:
        order: list[int] = []
        waiting = [block]
        while waiting:
            each = waiting.pop()
            if each not in order:
                order.append(each)
                waiting.extend(
                    edge.target
                    for edge in reversed(self._cfg.graph.outgoing[each])
                    if edge.target in self._region.blocks
                )
        return order

    def _number(self, register: Register) -> int:
        return self._registers.setdefault(register, len(self._registers))

    def _guarded(self, guard: object) -> object:
        register = getattr(guard, "register", None)
        return None if register is None else (self._number(register), getattr(guard, "negated", False))

    def _instruction(self, point: int) -> object | None:
        instruction = self._cfg.instructions[point]
        if Trait.BRANCH in instruction.operation.traits:
            return "branch"
        try:
            operands = tuple(map(self._operand, instruction.operands))
        except _ChangingError:
            return None
        return instruction.operation.text, self._guarded(instruction.guard), operands

    def _operand(self, operand: Operand | None) -> object:
        match operand:
            case Register() | Component():
                return self._read(operand)
            case Symbol():
                return operand.name, operand.scope
            case Negated():
                return "not", self._operand(operand.operand)
            case Pair():
                return self._operand(operand.first), self._operand(operand.second)
            case Vector():
                return tuple(map(self._operand, operand.elements))
            case Address():
                return (
                    "at",
                    self._operand(operand.base),
                    operand.offset,
                    tuple(map(self._operand, operand.extra)),
                )
            case _:
                return operand

    def _read(self, operand: Register | Component) -> object:
        name = special_name(operand)
        if name is not None:
            if changes(name):
                raise _ChangingError
            self._specials.setdefault(name, operand)
            return name
        if isinstance(operand, Component):
            return self._number(operand.base), operand.field
        return self._number(operand)


class _ChangingError(Exception):
    """A special register differs from read to read."""
