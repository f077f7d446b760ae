"""What a predicate says about the threads in which it holds: which they can be, and that a warp has only one.

Property: when `Claims.of(name, truth)` is `Claim(threads, elected)`, the predicate is `truth` in no thread
outside `threads` (None: not known), and with `elected` in at most one thread of each warp that computed it.
Looked through: `not`, `and`, `or`, comparisons with literals of numbers that are non-zero only where a guard
let them be set, and merges, beside what `Lanes` knows exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import (
    Guard,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
)
from ..opcodes.op import Op
from .cfg import Cfg
from .compare import Relation, relation_of
from .definitions import ENTRY, Definitions, Name
from .guards import Guards
from .optypes import typing_of
from .threads import Lanes, ThreadSet

_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Claim:
    """An upper bound of a set of threads."""

    threads: ThreadSet | None
    elected: bool

    def both(self, other: Claim) -> Claim:
        """What holds of the threads in both sets."""
        if self.threads is None or other.threads is None:
            threads = other.threads if self.threads is None else self.threads
        else:
            threads = self.threads & other.threads
        return Claim(threads, self.elected or other.elected)

    def either(self, other: Claim) -> Claim:
        """What holds of the threads in one set or the other."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        if self.threads is None or other.threads is None:
            return ANYBODY
        return Claim(self.threads | other.threads, False)

    @property
    def is_empty(self) -> bool:
        return self.threads is not None and not self.threads.bits


ANYBODY = Claim(None, False)


class Claims:
    """Claims about the predicates of one function."""

    def __init__(self, cfg: Cfg, definitions: Definitions, guards: Guards, lanes: Lanes) -> None:
        self._cfg = cfg
        self._definitions = definitions
        self._guards = guards
        self._lanes = lanes
        self._nobody = Claim(ThreadSet(0, lanes.size), False)
        self._memo: dict[tuple[Name, bool, int], Claim] = {}
        """By name, truth, and how deep the search may go: many ways lead to one name."""

    def of_guard(self, point: int, guard: Guard) -> Claim:
        """Return the claim about the threads that a guard lets pass."""
        return self.of(self._definitions.before(point, guard.register), not guard.negated)

    def of(self, name: Name, truth: bool) -> Claim:
        """Return the claim about the threads in which a register is non-zero, or zero."""
        return self._search(name, truth, _DEPTH)

    def _search(self, name: Name, truth: bool, depth: int) -> Claim:
        key = (name, truth, depth)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._found(name, truth, depth)
        return known

    def _found(self, name: Name, truth: bool, depth: int) -> Claim:
        literal = self._guards.moved_literal(name)
        if literal is not None:
            return ANYBODY if bool(literal) == truth else self._nobody
        exact = self._lanes.holds(name, truth)
        if exact is not None:
            return Claim(exact, False)
        if depth == 0 or name.site == ENTRY:
            return ANYBODY
        if name.phi_block is not None:
            return self._merged(name, truth, depth)
        instruction = self._cfg.instructions[name.site]
        computed = self._computed(name, instruction, truth, depth)
        if instruction.guard is None:
            return computed
        kept = self._search(self._definitions.before(name.site, name.register), truth, depth - 1)
        guard = instruction.guard
        passed = self._search(
            self._definitions.before(name.site, guard.register), not guard.negated, depth - 1
        )
        return kept.either(computed.both(passed))

    def _merged(self, name: Name, truth: bool, depth: int) -> Claim:
        claim = self._nobody
        for _, source in self._definitions.merged(name):
            claim = claim.either(self._search(source, truth, depth - 1))
        return claim

    def _computed(self, name: Name, instruction: Instruction, truth: bool, depth: int) -> Claim:
        operands, site = instruction.operands, name.site
        match instruction.operation.op:
            case Op.ELECT_SYNC:
                target = operands[0]
                chosen = isinstance(target, Pair) and target.second == name.register
                return Claim(None, truth and chosen)
            case Op.AND | Op.OR as op if len(operands) == 3:
                first, second = (self._operand(site, operand, truth, depth) for operand in operands[1:])
                return first.both(second) if (op is Op.AND) == truth else first.either(second)
            case Op.NOT if typing_of(instruction.operation).width == 1:
                return self._operand(site, operands[1], not truth, depth)
            case Op.MOV if len(operands) == 2:
                return self._operand(site, operands[1], truth, depth)
            case Op.CVT if truth and typing_of(instruction.operation).is_integer:
                return self._operand(site, operands[1], truth, depth)
            case Op.SELP if len(operands) == 4:
                return self._selected(site, operands, truth, depth)
            case Op.SETP:
                return self._comparison(name, instruction, truth, depth)
            case _:
                return ANYBODY

    def _operand(self, site: int, operand: Operand, truth: bool, depth: int) -> Claim:
        if isinstance(operand, Negated):
            operand, truth = operand.operand, not truth
        number = self._guards.literal(site, operand)
        if number is not None:
            return ANYBODY if bool(number) == truth else self._nobody
        if not isinstance(operand, Register):
            return ANYBODY
        return self._search(self._definitions.before(site, operand), truth, depth - 1)

    def _selected(self, site: int, operands: tuple[Operand, ...], truth: bool, depth: int) -> Claim:
        taken = self._operand(site, operands[1], truth, depth)
        other = self._operand(site, operands[2], truth, depth)
        here = taken.both(self._operand(site, operands[3], True, depth))
        return here.either(other.both(self._operand(site, operands[3], False, depth)))

    def _comparison(self, name: Name, setp: Instruction, truth: bool, depth: int) -> Claim:
        typing = typing_of(setp.operation)
        relation = relation_of(typing.modifiers)
        operands, site = setp.operands, name.site
        if relation is None or not typing.is_integer:
            return ANYBODY
        if isinstance(operands[0], Pair) and operands[0].second == name.register:
            if len(operands) > 3:
                return ANYBODY
            truth = not truth
        relation = relation if truth else relation.inverse
        claim = self._against(site, operands[1], relation, self._guards.literal(site, operands[2]), depth)
        if len(operands) == 3:
            return claim
        if typing.has(".xor"):
            return ANYBODY
        third = self._operand(site, operands[3], truth, depth)
        return claim.both(third) if typing.has(".and") == truth else claim.either(third)

    def _against(
        self, site: int, operand: Operand, relation: Relation, number: int | None, depth: int
    ) -> Claim:
        """Return the claim of `operand relation number`, from when the operand is zero and when it is not."""
        if relation is Relation.EQ and number == 0:
            return self._operand(site, operand, False, depth)
        non_zero = relation is Relation.EQ and bool(number)
        non_zero |= relation in (Relation.NE, Relation.GT) and number == 0
        return self._operand(site, operand, True, depth) if non_zero else ANYBODY
