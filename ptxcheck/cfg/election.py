"""Predicates that hold in at most one thread of each warp, because `elect.sync` chose it.

Property: when `Elections.elects(name, truth)`, at most one thread of each warp that computed the predicate
together has it `truth`. Looked through: `not`, `and`, comparisons with zero of numbers that are non-zero only
where an elected thread set them, merges whose other sources are false.
"""

from __future__ import annotations

from ..ir import Guard, Instruction, Negated, Operand, Pair, Register
from ..op import Op
from .cfg import Cfg
from .compare import Relation, relation_of
from .definitions import Definitions, Name
from .guards import Guards
from .optypes import typing_of

_DEPTH = 8


class Elections:
    """Election in one function."""

    def __init__(self, cfg: Cfg, definitions: Definitions, guards: Guards) -> None:
        self._cfg = cfg
        self._definitions = definitions
        self._guards = guards
        self._memo: dict[tuple[Name, bool], bool] = {}

    def of_guard(self, point: int, guard: Guard) -> bool:
        """Tell whether the guard lets at most one thread of each warp pass."""
        return self.elects(self._definitions.before(point, guard.register), not guard.negated)

    def elects(self, name: Name, truth: bool) -> bool:
        key = (name, truth)
        if key not in self._memo:
            self._memo[key] = self._search(name, truth, _DEPTH)
        return self._memo[key]

    def _search(self, name: Name, truth: bool, depth: int) -> bool:
        """Tell whether a register that is non-zero (or zero, for `truth` False) is so by election."""
        if depth == 0 or name.site == -1:
            return False
        if name.phi_block is not None:
            return self._merge(name, truth, depth)
        instruction = self._cfg.instructions[name.site]
        if instruction.guard is None:
            return self._computed(name, instruction, truth, depth)
        old = self._definitions.before(name.site, name.register)
        kept = self._never(old, truth) or self._search(old, truth, depth - 1)
        if not kept:
            return False
        guarded = self.of_guard(name.site, instruction.guard)
        return guarded or self._computed(name, instruction, truth, depth)

    def _merge(self, name: Name, truth: bool, depth: int) -> bool:
        names = [source for _, source in self._definitions.merged(name)]
        open_names = [source for source in names if not self._never(source, truth)]
        return len(open_names) == 1 and self._search(open_names[0], truth, depth - 1)

    def _never(self, name: Name, truth: bool) -> bool:
        """Tell whether a register is a literal that is not `truth`."""
        number = self._guards.moved_literal(name)
        return number is not None and bool(number) != truth

    def _computed(self, name: Name, instruction: Instruction, truth: bool, depth: int) -> bool:
        operands = instruction.operands
        match instruction.operation.op:
            case Op.ELECT_SYNC:
                target = operands[0]
                return truth and isinstance(target, Pair) and target.second == name.register
            case Op.AND if truth:
                return any(self._operand(name.site, operand, truth, depth) for operand in operands[1:])
            case Op.OR if not truth:
                return any(self._operand(name.site, operand, truth, depth) for operand in operands[1:])
            case Op.NOT:
                return self._operand(name.site, operands[1], not truth, depth)
            case Op.MOV | Op.CVT if len(operands) == 2:
                return self._operand(name.site, operands[1], truth, depth)
            case Op.SELP if truth:
                return self._selected(name.site, operands, depth)
            case Op.SETP:
                return self._comparison(name, instruction, truth, depth)
            case _:
                return False

    def _operand(self, site: int, operand: Operand, truth: bool, depth: int) -> bool:
        if isinstance(operand, Negated):
            operand, truth = operand.operand, not truth
        if not isinstance(operand, Register):
            return False
        return self._search(self._definitions.before(site, operand), truth, depth - 1)

    def _selected(self, site: int, operands: tuple[Operand, ...], depth: int) -> bool:
        if len(operands) != 4:
            return False
        taken, other = self._guards.literal(site, operands[1]), self._guards.literal(site, operands[2])
        if other == 0:
            return self._operand(site, operands[3], True, depth)
        return taken == 0 and self._operand(site, operands[3], False, depth)

    def _comparison(self, name: Name, setp: Instruction, truth: bool, depth: int) -> bool:
        typing = typing_of(setp.operation)
        relation = relation_of(typing.modifiers)
        operands = setp.operands
        if relation is None or not typing.is_integer:
            return False
        if isinstance(operands[0], Pair) and operands[0].second == name.register:
            if len(operands) > 3:
                return False
            truth = not truth
        if len(operands) > 3:
            if not typing.has(".and" if truth else ".or"):
                return False
            if self._operand(name.site, operands[3], truth, depth):
                return True
        relation = relation if truth else relation.inverse
        number = self._guards.literal(name.site, operands[2])
        return self._against(name.site, operands[1], relation, number, depth)

    def _against(
        self, site: int, operand: Operand, relation: Relation, number: int | None, depth: int
    ) -> bool:
        """Tell whether `operand relation number` speaks of a number that election makes non-zero or zero."""
        if relation is Relation.EQ and number == 0:
            return self._operand(site, operand, False, depth)
        non_zero = relation is Relation.EQ and bool(number)
        non_zero |= relation in (Relation.NE, Relation.GT) and number == 0
        return non_zero and self._operand(site, operand, True, depth)
