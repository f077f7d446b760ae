"""Which polls of mbarriers have succeeded when a predicate has a truth.

Property: where a predicate has the given truth, each poll that is yielded has succeeded.

Argument: logic, negation, copies and choices of two literals are followed back to `test_wait` and `try_wait`, and
only without guards.

Not covered: other computations on the answer of a poll, and chains longer than `_DEPTH`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.cfg import Cfg
from ....cfg.compare import Relation, relation_of
from ....cfg.definitions import Definitions, Name
from ....cfg.graph import Edge
from ....cfg.guards import Guards
from ....cfg.optypes import typing_of
from ....ir import (
    Guard,
    Negated,
    Operand,
    Register,
)
from ....opcodes.op import Op

POLLS = frozenset({Op.MBARRIER_TEST_WAIT, Op.MBARRIER_TRY_WAIT})
_DEPTH = 8


class Polling:
    """Polls behind predicates of one function, looked at through logic, choices of two literals, and copies."""

    def __init__(self, cfg: Cfg, definitions: Definitions) -> None:
        self._cfg = cfg
        self._definitions = definitions
        self._guards = Guards(cfg, definitions)

    def ends_with_all(self, block: int, polls: frozenset[int]) -> bool:
        """Tell whether a block is repeated, as a loop of its own, until all these polls have succeeded."""
        edges = self._cfg.graph.outgoing[block]
        leaving = [edge for edge in edges if edge.target != block]
        return len(leaving) < len(edges) and all(
            edge.guard is not None and polls <= set(self._decided_by(block, edge.guard)) for edge in leaving
        )

    def after_failure(self, block: int, poll: int) -> Iterator[Edge]:
        """Yield the edges out of a block that threads may take for which a poll has failed."""
        for edge in self._cfg.graph.outgoing[block]:
            if edge.guard is None or poll not in self._decided_by(block, edge.guard):
                yield edge

    def _decided_by(self, block: int, guard: Guard) -> Iterator[int]:
        """Yield polls that have succeeded where the guard of an edge out of a block holds."""
        return self.succeeded(self._before(self._cfg.blocks[block].last, guard.register), not guard.negated)

    def succeeded(self, name: Name, truth: bool, depth: int = _DEPTH) -> Iterator[int]:
        """Yield polls that have succeeded when a register is non-zero, or zero."""
        if name.site < 0 or not depth or self._cfg.instructions[name.site].guard is not None:
            return
        site, depth = name.site, depth - 1
        operation = self._cfg.instructions[site].operation
        operands = self._cfg.instructions[site].operands
        if operation.op in POLLS:
            yield from [site] if truth else []
        elif operation.op is Op.MOV or (
            operation.op in (Op.AND, Op.OR) and (operation.op is Op.AND) == truth
        ):
            for operand in operands[1:]:
                yield from self._behind(site, operand, truth, depth)
        elif operation.op is Op.NOT and typing_of(operation).width == 1:
            yield from self._behind(site, operands[1], not truth, depth)
        elif operation.op is Op.SELP and len(operands) == 4:
            chosen, other = (self._guards.literal(site, operand) for operand in operands[1:3])
            if chosen is not None and other is not None and bool(chosen) != bool(other):
                yield from self._behind(site, operands[3], bool(chosen) == truth, depth)
        elif operation.op is Op.SETP and len(operands) == 3 and self._guards.literal(site, operands[2]) == 0:
            relation = relation_of(typing_of(operation).modifiers)
            if relation in (Relation.EQ, Relation.NE):
                yield from self._behind(site, operands[1], (relation is Relation.NE) == truth, depth)

    def _behind(self, site: int, operand: Operand, truth: bool, depth: int) -> Iterator[int]:
        if isinstance(operand, Negated):
            operand, truth = operand.operand, not truth
        if isinstance(operand, Register):
            yield from self.succeeded(self._before(site, operand), truth, depth)

    def _before(self, site: int, register: Register) -> Name:
        return self._definitions.before(site, register)
