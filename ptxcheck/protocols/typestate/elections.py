"""Predicates that hold in the thread of a warp that `elect.sync` elects, and in no other (PTX ISA §9.7.13, elect.sync).

Property: where `is_elected(name, truth)` says so, the predicate is `truth` in the elected thread of each full warp that
comes to it together, and in it alone. Each election among all threads of a warp elects the same one.

Looked through: a number that is set to another one in the elected thread, and compared with the first, as CUTLASS does;
the conjunction with a predicate that holds in whole warps, if it is asked of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import Edge, Name, ThreadSet
from ...ir import (
    Guard,
    Immediate,
    Pair,
    Register,
)
from ...opcodes.op import Op

if TYPE_CHECKING:
    from ...view import KernelView

_ALL_LANES = 0xFFFFFFFF


class Elections:
    """Elections of one kernel, as some warps find them (of whose threads some predicates are known)."""

    def __init__(self, view: KernelView, warps: ThreadSet | None = None) -> None:
        self._view = view
        self._warps = warps
        self._known: dict[Name, bool | None] = {}

    def holds(self, point: int, guard: Guard) -> bool | None:
        """Tell whether a guard holds in the elected thread alone (True), in all others (False), or neither."""
        found = self._of(self._view.facts.name(point, guard.register))
        return None if found is None else found != guard.negated

    def loses(self, edge: Edge) -> bool:
        """Tell whether the elected thread does not take an edge."""
        return (
            edge.guard is not None
            and self.holds(self._view.cfg.blocks[edge.source].last, edge.guard) is False
        )

    def _of(self, name: Name) -> bool | None:
        """Return what a predicate is in the elected thread, where it is the opposite in all others."""
        if name not in self._known:
            self._known[name] = self._defined(name) if name.site >= 0 else None
        return self._known[name]

    def _defined(self, name: Name) -> bool | None:
        instruction, facts = self._view.body.instructions[name.site], self._view.facts
        match instruction.operation.op:
            case Op.ELECT_SYNC if instruction.guard is None:
                target = instruction.operands[0]
                mask = facts.value(name.site, instruction.operands[-1]).constant
                chosen = target.second if isinstance(target, Pair) else target
                is_full = mask is not None and mask & _ALL_LANES == _ALL_LANES
                return True if chosen == name.register and is_full else None
            case Op.AND if instruction.guard is None:
                both = instruction.operands[1:]
                names = [facts.name(name.site, each) for each in both if isinstance(each, Register)]
                others = [each for each in names if self._of(each) is not True]
                is_one = len(names) == 2 and len(others) == 1 and self._holds_throughout(others[0])
                return True if is_one else None
            case Op.SETP if instruction.guard is None and len(instruction.operands) == 3:
                _, flag, number = instruction.operands
                if not (isinstance(flag, Register) and isinstance(number, Immediate)):
                    return None
                numbers = self._numbers(facts.name(name.site, flag))
                equal = instruction.operation.has(".eq")
                if numbers is None or not (equal or instruction.operation.has(".ne")):
                    return None
                return equal == (number.value == numbers[0]) if number.value in numbers else None
            case _:
                return None

    def _holds_throughout(self, name: Name) -> bool:
        """Tell whether a predicate holds in all threads of the warps."""
        holding = None if self._warps is None else self._view.facts.holding(name, True)
        return holding is not None and self._warps is not None and not (self._warps - holding).bits

    def _numbers(self, flag: Name) -> tuple[int, int] | None:
        """Return the numbers that a flag is in the elected thread, and in others; None for other registers."""
        if flag.site < 0:
            return None
        move, facts = self._view.body.instructions[flag.site], self._view.facts
        if (
            move.operation.op is not Op.MOV
            or move.guard is None
            or not isinstance(move.operands[-1], Immediate)
        ):
            return None
        before = facts.value_of(facts.name(flag.site, flag.register))
        if self.holds(flag.site, move.guard) is not True or before is None or before.constant is None:
            return None
        numbers = move.operands[-1].value, before.constant
        return numbers if numbers[0] != numbers[1] else None


__all__ = ["Elections"]
