"""What threads store by one instruction: a number of each, up to one that all of them have.

Property: of two threads that execute a store together, `stored_by` says different numbers only where they surely store
different ones. Where `is_relative`, the numbers are the distance from one that is not known, and say nothing of threads
that come to the store in different rounds.

Argument: what follows from the number of the thread is known (`Facts.by_thread`). Adding it to a value that all threads
of the CTA have, or combining the two by `xor`, maps different numbers to different ones.

Not covered: values that differ between threads in another way, such as products; the store is taken to store one value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...cfg.cfg import Cfg
from ...cfg.concrete import Words, masked
from ...cfg.definitions import Name
from ...cfg.facts import Facts
from ...cfg.threads import is_exact
from ...cfg.uniform import Uniformity
from ...ir import Immediate, Operand, Register
from ...opcodes.op import Op
from ..model.lowering import StoredNumbers

_DEEPEST = 64
"""Operations that are looked through."""
_COMBINING = {Op.ADD: "+", Op.SUB: "+", Op.XOR: "^"}


@dataclass(frozen=True, slots=True)
class _Distance:
    """A number for each thread, or one for all, and what it is to be combined with; `base` None: nothing."""

    words: Words
    base: Name | None = None
    way: str = ""
    """How: `+` or `^`; empty where all numbers are 0."""


class StoredBy:
    """Numbers that threads of one kernel store."""

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._facts = facts

    def __call__(self, point: int, value: Register, width: int) -> StoredNumbers | None:
        """Return what each thread stores at a point, in so many bits; None where that is not known."""
        found = self._of(self._facts.name(point, value), _DEEPEST)
        if found is None or len(found.words) == 1:  # the same of all threads
            return None
        return masked(found.words, width), found.base is not None

    def _of(self, name: Name, depth: int) -> _Distance | None:
        words = self._facts.by_thread(name)
        if words is not None:
            return _Distance(words)
        found = None
        if name.site >= 0 and depth > 0 and is_exact(self._cfg.instructions[name.site].operation):
            found = self._defined(name, depth - 1)
        if found is None and self._facts.uniformity_of(name) <= Uniformity.CTA:
            return _Distance(_one(0), name)
        return found

    def _defined(self, name: Name, depth: int) -> _Distance | None:
        instruction = self._cfg.instructions[name.site]
        operation = instruction.operation
        if operation.op is not Op.MOV and operation.op not in _COMBINING:
            return None
        sources = [self._operand(name.site, each, depth) for each in instruction.operands[1:]]
        new = sources[0] if operation.op is Op.MOV else _combined(operation.op, sources)
        if new is None or instruction.guard is None:
            return new
        guard = self._facts.by_thread(self._facts.name(name.site, instruction.guard.register))
        old = self._of(self._facts.name(name.site, name.register), depth)
        if guard is None or old is None or old.base != new.base or {old.way, new.way} == {"+", "^"}:
            return None
        words = np.where((guard != 0) != instruction.guard.negated, new.words, old.words)
        return _Distance(words, new.base, new.way or old.way)

    def _operand(self, point: int, operand: Operand, depth: int) -> _Distance | None:
        match operand:
            case Register():
                return self._of(self._facts.name(point, operand), depth)
            case Immediate(value=number):
                return _Distance(_one(number & (1 << 64) - 1))
            case _:
                return None


def _one(number: int) -> Words:
    return np.array([number], dtype=np.uint64)


def _combined(op: Op, sources: list[_Distance | None]) -> _Distance | None:
    """Return what an operation makes of a distance and numbers that are known, in either order."""
    if len(sources) != 2 or sources[0] is None or sources[1] is None:
        return None
    one, other = sources[0], sources[1]
    if op is not Op.SUB and one.base is None:
        one, other = other, one
    way = _COMBINING[op]
    if other.base is not None or one.base is None or one.way not in ("", way):
        return None
    if op is Op.XOR:
        return _Distance(one.words ^ other.words, one.base, way)
    return _Distance(one.words + other.words if op is Op.ADD else one.words - other.words, one.base, way)
