"""What a branch or a guard says about registers: comparisons with constants, found through the predicates.

Property: when the predicate has the given truth, every returned fact holds of the named definition.
Looked through: `not`, `and` where it holds, `or` where it fails, copies. Only comparisons of a register with
a literal, or with a register whose single definition moves a literal, become facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from ..ir import (
    Guard,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
)
from ..opcodes.op import Op
from .cfg import Cfg
from .compare import Relation, relation_of
from .definitions import Definitions, Name
from .optypes import typing_of

_DEPTH = 4


class Fact(NamedTuple):
    """`name` stands in `relation` to `number`."""

    name: Name
    relation: Relation
    number: int
    signed: bool


class EdgeFact(NamedTuple):
    """A fact that holds from the start of block `block` on, in all blocks that it dominates."""

    block: int
    fact: Fact


class Guards:
    """Facts that guards establish in one function."""

    def __init__(self, cfg: Cfg, definitions: Definitions) -> None:
        self._cfg = cfg
        self._definitions = definitions
        self._memo: dict[tuple[Name, bool], tuple[Fact, ...]] = {}

    def of_guard(self, point: int, guard: Guard) -> tuple[Fact, ...]:
        """Return what holds when the guard lets the instruction at the point run."""
        return self.of(self._definitions.before(point, guard.register), not guard.negated)

    def of(self, predicate: Name, truth: bool) -> tuple[Fact, ...]:
        """Return what holds when the predicate is `truth`."""
        key = (predicate, truth)
        if key not in self._memo:
            self._memo[key] = self._facts(predicate, truth, _DEPTH)
        return self._memo[key]

    @cached_property
    def on_edges(self) -> Mapping[Name, tuple[EdgeFact, ...]]:
        """Facts that conditional edges establish for the code behind them, by the name they speak of."""
        found: dict[Name, list[EdgeFact]] = {}
        for edge in self._cfg.graph.edges:
            alone = len(self._cfg.edges_into(edge.target)) == 1
            if edge.guard is None or not alone or edge.target == self._cfg.exit:
                continue
            for fact in self.of_guard(self._cfg.blocks[edge.source].last, edge.guard):
                found.setdefault(fact.name, []).append(EdgeFact(edge.target, fact))
        return {name: tuple(facts) for name, facts in found.items()}

    def _facts(self, predicate: Name, truth: bool, depth: int) -> tuple[Fact, ...]:
        site = predicate.site
        if site < 0 or depth == 0:
            return ()
        instruction = self._cfg.instructions[site]
        if instruction.guard is not None:
            return ()
        match instruction.operation.op:
            case Op.SETP:
                return self._comparison(site, instruction, predicate.register, truth, depth)
            case Op.AND if truth:
                return self._both(site, instruction.operands[1:], truth, depth)
            case Op.OR if not truth:
                return self._both(site, instruction.operands[1:], truth, depth)
            case Op.NOT:
                return self._both(site, instruction.operands[1:], not truth, depth)
            case Op.MOV:
                return self._both(site, instruction.operands[1:], truth, depth)
            case _:
                return ()

    def _both(self, site: int, operands: tuple[Operand, ...], truth: bool, depth: int) -> tuple[Fact, ...]:
        found: list[Fact] = []
        for operand in operands:
            holds = truth
            if isinstance(operand, Negated):
                operand, holds = operand.operand, not truth
            if isinstance(operand, Register):
                found.extend(self._facts(self._definitions.before(site, operand), holds, depth - 1))
        return tuple(found)

    def _comparison(
        self, site: int, setp: Instruction, register: Register, truth: bool, depth: int
    ) -> tuple[Fact, ...]:
        typing = typing_of(setp.operation)
        relation = relation_of(typing.modifiers)
        if relation is None or not typing.is_integer or len(setp.operands) < 3:
            return ()
        target = setp.operands[0]
        if isinstance(target, Pair) and target.second == register:
            if len(setp.operands) > 3:
                return ()
            truth = not truth
        combined: tuple[Fact, ...] = ()
        if len(setp.operands) > 3:
            if not typing.has(".and" if truth else ".or"):
                return ()
            combined = self._both(site, setp.operands[3:4], truth, depth)
        relation = relation if truth else relation.inverse
        return (*combined, *self._numbers(site, setp, relation, typing.source_signed))

    def _numbers(self, site: int, setp: Instruction, relation: Relation, signed: bool) -> tuple[Fact, ...]:
        a, b = setp.operands[1], setp.operands[2]
        found: list[Fact] = []
        for operand, other, way in ((a, b, relation), (b, a, relation.swapped)):
            number = self.literal(site, other)
            if isinstance(operand, Register) and number is not None:
                found.append(Fact(self._definitions.before(site, operand), way, number, signed))
        return tuple(found)

    def literal(self, point: int, operand: Operand | None) -> int | None:
        """Return the number of a literal, or of a register that is a moved literal."""
        if isinstance(operand, Immediate):
            return operand.value
        if not isinstance(operand, Register):
            return None
        return self.moved_literal(self._definitions.before(point, operand))

    def moved_literal(self, name: Name, depth: int = _DEPTH) -> int | None:
        """Return the number that a definition moves into its register, through copies of registers."""
        if name.site < 0 or depth == 0:
            return None
        source = self._cfg.instructions[name.site]
        if source.operation.op is not Op.MOV or source.guard is not None or len(source.operands) != 2:
            return None
        target, moved = source.operands
        if not isinstance(target, Register):
            return None
        if isinstance(moved, Register):
            return self.moved_literal(self._definitions.before(name.site, moved), depth - 1)
        return moved.value if isinstance(moved, Immediate) else None
