"""Sets of threads of a block, and registers evaluated for all of them at once.

Property: where `Lanes.of(name)` gives numbers, element t is exactly what the definition leaves in the
register of thread t, whatever the launch's other dimensions. It gives them for code that depends on the
thread index and literals alone. Loops, memory, parameters and block indices have no answer (None). What a merge leaves
follows where the branches on the way to it go by the thread index, too.

Threads are numbered along x, then y, then z. Where the block is not known, 1024 threads along x stand for it:
a smaller block is a prefix of that (`is_assumed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..ir import (
    Component,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Vector,
)
from ..launch import Dim, Launch
from ..opcodes.op import Op
from ..opcodes.spec import Operation, Trait
from . import concrete
from .cfg import Cfg
from .concrete import Words
from .definitions import Definitions, Name, part_of
from .gates import Gates, gates_of
from .graph import Edge
from .optypes import Typing, typing_of
from .sparse import Sparse
from .special import MAX_THREADS, special_name

WARP = 32
WARPGROUP = 128
Threads: TypeAlias = npt.NDArray[np.bool_]
"""A truth value for each thread of a block."""


@dataclass(frozen=True, slots=True)
class ThreadSet:
    """Threads of one block, as bits."""

    bits: int
    size: int
    """Threads of the block."""

    @staticmethod
    def all(size: int) -> ThreadSet:
        return ThreadSet((1 << size) - 1, size)

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __iter__(self) -> Iterator[int]:
        return (thread for thread in range(self.size) if self.bits >> thread & 1)

    def __contains__(self, thread: int) -> bool:
        return bool(self.bits >> thread & 1)

    def __and__(self, other: ThreadSet) -> ThreadSet:
        return ThreadSet(self.bits & other.bits, self.size)

    def __or__(self, other: ThreadSet) -> ThreadSet:
        return ThreadSet(self.bits | other.bits, self.size)

    def __sub__(self, other: ThreadSet) -> ThreadSet:
        return ThreadSet(self.bits & ~other.bits, self.size)

    @property
    def warps(self) -> tuple[int, ...]:
        """Warps with at least one thread in the set."""
        mask = (1 << WARP) - 1
        return tuple(w for w in range((self.size + WARP - 1) // WARP) if self.bits >> w * WARP & mask)

    @property
    def one_per_warp(self) -> bool:
        """Tell whether no warp has two threads in the set."""
        mask = (1 << WARP) - 1
        return all((self.bits >> w * WARP & mask).bit_count() == 1 for w in self.warps)

    def whole(self, group: int) -> bool:
        """Tell whether the set is made of complete groups of consecutive threads (32: warps)."""
        for first in range(0, self.size, group):
            mask = (1 << min(group, self.size - first)) - 1
            if self.bits >> first & mask not in (0, mask):
                return False
        return True

    def __str__(self) -> str:
        runs: list[str] = []
        for thread in self:
            if thread == 0 or thread - 1 not in self:
                last = thread
                while last + 1 in self:
                    last += 1
                runs.append(str(thread) if last == thread else f"{thread}-{last}")
        return ", ".join(runs)


class Numbers:
    """Numbers of all threads of a block, compared by identity."""

    __slots__ = ("words",)

    def __init__(self, words: Words) -> None:
        self.words = words


Read = Callable[[Name], "Numbers | None"]


class Lanes:
    """Registers of one function as vectors over the threads of a block."""

    def __init__(self, cfg: Cfg, definitions: Definitions, launch: Launch) -> None:
        self._cfg = cfg
        self._definitions = definitions
        exact = launch.block is not None and launch.block_is_exact
        self.is_assumed = not exact
        self._block: Dim = (
            launch.block if launch.block is not None else (launch.max_threads or MAX_THREADS, 1, 1)
        )
        self.usable = exact or not reads_other_axes(cfg)
        self.size = self._block[0] * self._block[1] * self._block[2]
        self._threads = np.arange(self.size, dtype=np.uint64)
        self._sparse: Sparse[Name, Numbers] = Sparse(self)
        self._gates_of: dict[int, Gates | None] = {}

    def of(self, name: Name) -> Words | None:
        """Return the numbers that a definition leaves in each thread, None when not known."""
        numbers = self._sparse.get(name) if self.usable else None
        return None if numbers is None else numbers.words

    def holds(self, name: Name, truth: bool) -> ThreadSet | None:
        """Return the threads in which a predicate is `truth`, None when not known."""
        words = self.of(name)
        if words is None:
            return None
        packed = np.packbits((words != 0) == truth, bitorder="little").tobytes()
        return ThreadSet(int.from_bytes(packed, "little"), self.size)

    def chosen(self, name: Name, numbers: Sequence[int]) -> ThreadSet | None:
        """Return the threads in which a register is one of some numbers, None when not known."""
        words = self.of(name)
        if words is None:
            return None
        packed = np.packbits(np.isin(words, np.array(numbers, dtype=np.uint64)), bitorder="little").tobytes()
        return ThreadSet(int.from_bytes(packed, "little"), self.size)

    def special(self, name: str) -> Words | None:
        x, y, _ = self._block
        thread = self._threads
        match name:
            case "%tid.x":
                return thread % np.uint64(x)
            case "%tid.y":
                return thread // np.uint64(x) % np.uint64(y)
            case "%tid.z":
                return thread // np.uint64(x * y)
            case "%laneid":
                return thread % np.uint64(WARP)
            case "%ntid.x" | "%ntid.y" | "%ntid.z" if not self.is_assumed:
                return np.full(self.size, self._block["xyz".index(name[-1])], dtype=np.uint64)
            case _:
                return None

    # ---- the problem for the sparse solver

    def inputs(self, key: Name) -> Sequence[Name]:
        if key.phi_block is not None:
            gates = self._gates(key.phi_block)
            deciders = () if gates is None else gates.deciders.values()
            return [*(name for _, name in self._definitions.merged(key)), *dict.fromkeys(deciders)]
        if key.site < 0:
            return ()
        instruction = self._cfg.instructions[key.site]
        if not _is_known(instruction):
            return ()
        names = list(self._definitions.read_at(key.site))
        if instruction.guard is not None:
            names.append(self._definitions.before(key.site, key.register))
        return names

    def evaluate(self, key: Name, read: Read) -> Numbers | None:
        if key.phi_block is not None:
            return self._merged(key, read)
        if key.site < 0:
            name = special_name(key.register)
            return _numbers(None if name is None else self.special(name))
        instruction = self._cfg.instructions[key.site]
        if not _is_known(instruction):
            return None
        words = _LaneCall(self, self._definitions, key, instruction, read).result()
        return _numbers(words if instruction.guard is None else self._guarded(key, instruction, words, read))

    def closes_cycle(self, key: Name) -> bool:
        return key.phi_block is not None

    def merge(self, key: Name, old: Numbers, new: Numbers, turn: int, cycle: Sequence[Name]) -> Numbers:
        return old

    def _merged(self, key: Name, read: Read) -> Numbers | None:
        merged = [(edge, read(name)) for edge, name in self._definitions.merged(key)]
        first = merged[0][1] if merged else None
        if first is None or any(other is None for _, other in merged):
            return None
        if all(other is not None and np.array_equal(first.words, other.words) for _, other in merged[1:]):
            return first
        taken = self._taken(key.phi_block, read)
        if taken is None:
            return None
        chosen = first.words
        for edge, other in merged:
            assert other is not None
            chosen = np.where(taken[edge], other.words, chosen) if edge in taken else chosen
        return Numbers(chosen)

    def _gates(self, block: int) -> Gates | None:
        if block not in self._gates_of:
            self._gates_of[block] = gates_of(self._cfg, self._definitions, block)
        return self._gates_of[block]

    def _taken(self, block: int | None, read: Read) -> dict[Edge, Threads] | None:
        """Return the threads that come into a block by each of its edges, None when not known."""
        gates = None if block is None else self._gates(block)
        if gates is None:
            return None
        here = {gates.order[0]: np.ones(self.size, dtype=np.bool_)}
        taken: dict[Edge, Threads] = {}
        for source in gates.order:
            for edge in self._cfg.edges_from(source):
                threads = here.get(source, np.zeros(self.size, dtype=np.bool_))
                if edge.guard is not None:
                    test = read(gates.deciders[edge])
                    if test is None:
                        return None
                    threads = threads & ((test.words != 0) != edge.guard.negated)
                if edge.target == gates.block:
                    taken[edge] = threads
                elif edge.target in gates.order:
                    here[edge.target] = threads | here.get(edge.target, np.zeros(self.size, dtype=np.bool_))
        return taken

    def _guarded(self, key: Name, instruction: Instruction, new: Words | None, read: Read) -> Words | None:
        guard = instruction.guard
        assert guard is not None
        old = read(self._definitions.before(key.site, key.register))
        test = read(self._definitions.before(key.site, guard.register))
        if new is None or old is None or test is None:
            return None
        return np.where((test.words != 0) != guard.negated, new, old.words)


class _UnknownOperandError(Exception):
    """An operand has no known numbers."""


class _LaneCall:
    """One instruction for all threads; `result` is None when an operand is not known."""

    def __init__(
        self, lanes: Lanes, definitions: Definitions, key: Name, instruction: Instruction, read: Read
    ) -> None:
        self._lanes = lanes
        self._definitions = definitions
        self._key = key
        self._instruction = instruction
        self._read = read

    @property
    def typing(self) -> Typing:
        return typing_of(self._instruction.operation)

    @property
    def count(self) -> int:
        return len(self._instruction.operands)

    @property
    def part(self) -> int:
        return part_of(self._instruction.operands[0], self._key.register)

    def result(self) -> Words | None:
        operation = self._instruction.operation
        try:
            if operation.op is Op.SHFL_SYNC:
                return self._broadcast()
            return concrete.apply(operation.op, self)
        except _UnknownOperandError:
            return None

    def value(self, index: int, width: int) -> Words:
        words = self._of(self._instruction.operands[index])
        if words is None:
            raise _UnknownOperandError
        return concrete.masked(words, width)

    def _broadcast(self) -> Words | None:
        """A shuffle from one fixed lane to all lanes of complete warps."""
        source, lane = self.value(1, 32), self.value(2, 32)
        clamp, mask = self.value(3, 32), self.value(4, 32)
        fixed = len(set(lane.tolist())) == 1 and int(lane[0]) < WARP
        if self.part or not fixed or (clamp != 0x1F).any() or (mask != 0xFFFFFFFF).any():
            return None
        if not self._instruction.operation.has(".idx"):
            return None
        first = np.arange(len(source)) // WARP * WARP + int(lane[0])
        return source[first] if int(first.max()) < len(source) else None

    def _of(self, operand: Operand) -> Words | None:
        match operand:
            case Register():
                numbers = self._read(self._definitions.before(self._key.site, operand))
                return None if numbers is None else numbers.words
            case Immediate(value=number):
                return np.full(self._lanes.size, number & (1 << 64) - 1, dtype=np.uint64)
            case Negated(operand=inner):
                words = self._of(inner)
                return None if words is None else words ^ np.uint64(1)
            case Component():
                name = special_name(operand)
                return None if name is None else self._lanes.special(name)
            case _:
                return None


def _numbers(words: Words | None) -> Numbers | None:
    return None if words is None else Numbers(words)


def _is_known(instruction: Instruction) -> bool:
    return is_exact(instruction.operation) and not any(isinstance(o, Vector) for o in instruction.operands)


@lru_cache(maxsize=4096)
def is_exact(operation: Operation) -> bool:
    """Tell whether the numbers of an operation can be known exactly from those of its operands."""
    if Trait.ANYTHING in operation.traits:
        return False
    return operation.op is Op.SHFL_SYNC or concrete.knows(operation.op, typing_of(operation))


def reads_other_axes(cfg: Cfg) -> bool:
    axes = {"%tid.y", "%tid.z", "%ntid.y", "%ntid.z"}
    for instruction in cfg.instructions:
        if instruction.operation.op is Op.MOV:
            source = instruction.operands[-1]
            if isinstance(source, (Component, Register)) and special_name(source) in axes:
                return True
    return False
