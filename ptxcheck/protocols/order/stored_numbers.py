"""What threads store by one instruction: a number of each, up to one that all of them have.

Property: of two threads that execute a store together, `StoredBy` gives different numbers only where they surely store
different ones, and one number only where they surely store one. Where these are relative, they are the distance from a
number that is not known, and say nothing of threads that come to the store in different rounds.

Argument: what follows from the number of the thread is known (`Facts.by_thread`). Adding it to a value that all threads
of the CTA have, or combining the two by `xor`, maps different numbers to different ones. In a loop the distance stays
what it was in front of it if each round adds what all threads have. Threads that are together in a loop are in one
round of it, so that is said inside the loop alone.

Not covered: values that differ between threads in another way, such as products of what is not known; the store is
taken to store one value.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...cfg.cfg import Cfg
from ...cfg.concrete import Words, masked
from ...cfg.definitions import Name
from ...cfg.facts import Facts
from ...cfg.threads import is_exact
from ...cfg.uniform import Uniformity
from ...ir import Immediate, Operand, Register
from ...opcodes.op import Op
from ...opcodes.spec import Operation
from ..model.lowering import StoredNumbers

_DEEPEST = 64
"""Operations that are looked through."""
_ADDRESS = 32
"""Bits of an address of shared memory."""
_COMBINING = {Op.ADD: "+", Op.SUB: "+", Op.XOR: "^"}
_FOLLOWED = frozenset({Op.MOV, Op.MAD, *_COMBINING})


@dataclass(frozen=True, slots=True)
class _Distance:
    """A number for each thread, or one for all, and what it is to be combined with; `base` None: nothing."""

    words: Words
    base: Hashable = None
    way: str = ""
    """How: `+` or `^`; empty where all numbers are 0."""


class StoredBy:
    """Numbers that threads of one kernel store."""

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._facts = facts
        self._rounds: dict[Name, _Distance] = {}
        """What loops start with, while it is asked whether their rounds keep it."""

    def __call__(self, point: int, value: Register, width: int) -> StoredNumbers | None:
        """Return what each thread stores at a point, in so many bits, one for all if it is; None where not known."""
        found = self._of(self._facts.name(point, value), self._cfg.graph.block_of[point], _DEEPEST)
        return None if found is None else (masked(found.words, width), found.base is not None)

    def apart(self, point: int, address: Register, own: npt.NDArray[np.int64], size: int) -> bool:
        """Tell whether some threads surely have places of their own, of so many bytes, wherever these are."""
        found = self._of(self._facts.name(point, address), self._cfg.graph.block_of[point], _DEEPEST)
        if found is None or len(found.words) <= int(own.max(initial=0)):
            return False
        places = np.sort(masked(found.words, _ADDRESS)[own].astype(np.int64))
        gaps = np.diff(places, append=places[:1] + (1 << _ADDRESS))
        is_moved_alike = found.way != "^" or bool((places % size == places[:1] % size).all())
        return bool((gaps >= size).all()) and is_moved_alike

    def _of(self, name: Name, block: int, depth: int) -> _Distance | None:
        """Return what is known of a definition where it is read in a block."""
        words = self._facts.by_thread(name)
        if words is not None:
            return _Distance(words)
        if name in self._rounds:
            return self._rounds[name]
        if not self._is_inside(name, block) or not depth:
            return None
        found = self._defined(name, depth - 1) if name.site >= 0 else self._merged(name, depth - 1)
        if found is None and self._facts.uniformity_of(name) <= Uniformity.CTA:
            return _Distance(_one(0), name)
        return found

    def _is_inside(self, name: Name, block: int) -> bool:
        """Tell whether a block is in all loops that a definition is in: threads that are there are in one round."""
        home = name.phi_block if name.phi_block is not None else self._block_of(name)
        return home is None or all(block in loop.blocks for loop in self._cfg.loops_around(home))

    def _block_of(self, name: Name) -> int | None:
        return self._cfg.graph.block_of[name.site] if name.site >= 0 else None

    def _defined(self, name: Name, depth: int) -> _Distance | None:
        instruction = self._cfg.instructions[name.site]
        operation = instruction.operation
        if not is_exact(operation) or operation.op not in _FOLLOWED:
            return None
        sources = [self._operand(name.site, each, depth) for each in instruction.operands[1:]]
        if operation.op is Op.MAD:
            sources = [_product(sources[:2], operation), sources[2]]
        op = Op.ADD if operation.op is Op.MAD else operation.op
        new = sources[0] if op is Op.MOV else _combined(op, sources, name)
        if new is None or instruction.guard is None:
            return new
        block = self._cfg.graph.block_of[name.site]
        guard = self._facts.by_thread(self._facts.name(name.site, instruction.guard.register))
        old = self._of(self._facts.name(name.site, name.register), block, depth)
        if guard is None or old is None or old.base != new.base or {old.way, new.way} == {"+", "^"}:
            return None
        words = np.where((guard != 0) != instruction.guard.negated, new.words, old.words)
        return _Distance(words, new.base, new.way or old.way)

    def _merged(self, name: Name, depth: int) -> _Distance | None:
        """Return the distance that a loop starts with, if all of its rounds keep it."""
        loops = self._cfg.loops_around(name.phi_block) if name.phi_block is not None else ()
        if not loops or loops[0].header != name.phi_block:
            return None
        merged = self._facts.merged(name)
        before = [(edge, each) for edge, each in merged if edge.source not in loops[0].blocks]
        start = self._of(before[0][1], before[0][0].source, depth) if len(before) == 1 else None
        if start is None or start.way == "^":
            return None
        held = _Distance(start.words, ("round", name), "+")
        self._rounds[name] = held
        kept = all(
            _is_kept(start, self._of(each, edge.source, depth))
            for edge, each in merged
            if edge.source in loops[0].blocks
        )
        del self._rounds[name]
        return held if kept else None

    def _operand(self, point: int, operand: Operand, depth: int) -> _Distance | None:
        match operand:
            case Register():
                return self._of(self._facts.name(point, operand), self._cfg.graph.block_of[point], depth)
            case Immediate(value=number):
                return _Distance(_one(number & (1 << 64) - 1))
            case _:
                return None


def _one(number: int) -> Words:
    return np.array([number], dtype=np.uint64)


def _product(factors: list[_Distance | None], operation: Operation) -> _Distance | None:
    """Return the low word of a product of numbers that are known."""
    one, other = factors
    if one is None or other is None or one.base is not None or other.base is not None:
        return None
    return _Distance(one.words * other.words) if operation.slots.get("half") == ".lo" else None


def _is_kept(start: _Distance, found: _Distance | None) -> bool:
    """Tell whether threads are as far from each other as they were."""
    if found is None or found.way == "^":
        return False
    moved = found.words - start.words
    return bool((moved == moved[0]).all())


def _combined(op: Op, sources: list[_Distance | None], name: Name) -> _Distance | None:
    """Return what an operation makes of a distance and numbers that are known, or that all have, in either order."""
    if len(sources) != 2 or sources[0] is None or sources[1] is None:
        return None
    one, other = sources[0], sources[1]
    if op is not Op.SUB and (one.base is None or (other.base is not None and len(one.words) == 1)):
        one, other = other, one
    way = _COMBINING[op]
    if one.way not in ("", way) or (other.base is not None and len(other.words) != 1):
        return None
    if other.base is not None:
        return replace(one, base=("with", name), way=way)
    if one.base is None:
        return None
    if op is Op.XOR:
        return _Distance(one.words ^ other.words, one.base, way)
    return _Distance(one.words + other.words if op is Op.ADD else one.words - other.words, one.base, way)
