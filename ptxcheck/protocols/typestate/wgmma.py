"""wgmma on one thread's paths: fence, multiplications, commit, wait.

Property: what is reported happens on a path that some thread can take (see `in_flight` and `paths`).

* `touches`: accumulators read or written, and fragments of A written, before a wait covers the
  multiplication. A result that is in no group is never covered.
* `unfenced`: a multiplication with no fence since the start of the kernel, or since one of its registers was
  written by other means than a multiplication.
* `reshaped`: accumulators that pass from a multiplication of one shape to one of another with no fence.
* `uncommitted_end`: a multiplication that is in no group when its thread ends.
* `unawaited_end`: one that is in a group when its thread ends, with no wait behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...ir import (
    FloatImmediate,
    Immediate,
    Instruction,
    Register,
    registers_of,
)
from ...opcodes.op import Op
from . import register_flow
from .in_flight import InFlight, Touch, Work
from .paths import Paths, Query
from .register_flow import (
    CLEAN,
    Action,
    Mark,
    State,
    in_order,
    is_move,
    moves,
)

if TYPE_CHECKING:
    from ...view import KernelView

MULTIPLICATIONS = frozenset({Op.WGMMA_MMA_ASYNC, Op.WGMMA_MMA_ASYNC_SP})
WGMMA = MULTIPLICATIONS | {Op.WGMMA_FENCE, Op.WGMMA_COMMIT_GROUP, Op.WGMMA_WAIT_GROUP}


@dataclass(frozen=True, slots=True)
class Unfenced:
    """A multiplication with no fence since `since` (None: since the start of the kernel)."""

    point: int
    since: int | None
    register: Register | None = None
    zero: bool = False
    """The write is a move of zero that nothing else is merged with: ptxas starts from zero by itself."""


@dataclass(frozen=True)
class Wgmma:
    """The wgmma instructions of one kernel."""

    view: KernelView

    @cached_property
    def points(self) -> Mapping[Op, frozenset[int]]:
        """Points of each kind of instruction that some run gets to."""
        found: dict[Op, set[int]] = {op: set() for op in WGMMA}
        for point, instruction in enumerate(self.view.body.instructions):
            if instruction.operation.op in WGMMA and not self.view.facts.never_runs(point):
                found[instruction.operation.op].add(point)
        return {op: frozenset(points) for op, points in found.items()}

    @cached_property
    def multiplications(self) -> tuple[int, ...]:
        return tuple(sorted(p for op in MULTIPLICATIONS for p in self.points[op]))

    @cached_property
    def commits(self) -> frozenset[int]:
        return self.points[Op.WGMMA_COMMIT_GROUP]

    @cached_property
    def waits(self) -> Mapping[int, int]:
        """Each wait with the number of groups that it leaves open; what is not known counts as none."""
        found: dict[int, int] = {}
        for point in self.points[Op.WGMMA_WAIT_GROUP]:
            left = self.view.body.instructions[point].get("n")
            found[point] = max(left.value, 0) if isinstance(left, Immediate) else 0
        return found

    @cached_property
    def touches(self) -> tuple[Touch, ...]:
        """Accesses to accumulators, and writes to fragments of A, that come too early."""
        found: dict[int, Touch] = {}
        for work in self._work:
            found.update((touch.point, touch) for touch in work.touches)
        return tuple(found[point] for point in sorted(found))

    @cached_property
    def open_accesses(self) -> tuple[int, ...]:
        """Points of such accesses that are too early on some path, whether a thread can take it or not."""
        return tuple(sorted({point for work in self._work for point in work.open_accesses}))

    @cached_property
    def _work(self) -> tuple[InFlight, ...]:
        """The work on fragments of A, and on accumulators."""
        if not self.multiplications:
            return ()
        commits = self.commits
        results = Work(self._results, commits, self.waits, chains=True)
        inputs = {point: registers for point, registers in self._fragments.items() if registers}
        fragments = Work(inputs, commits, self.waits, reads_count=False)
        return InFlight(self.view, fragments), InFlight(self.view, results)

    @cached_property
    def _results(self) -> Mapping[int, frozenset[Register]]:
        """Accumulators of each multiplication."""
        return {point: self._registers(point, "d") for point in self.multiplications}

    @cached_property
    def _fragments(self) -> Mapping[int, frozenset[Register]]:
        """Registers that hold A, of each multiplication; none where A is in shared memory."""
        return {point: self._registers(point, "a") for point in self.multiplications}

    def _registers(self, point: int, operand: str) -> frozenset[Register]:
        value = self.view.body.instructions[point].get(operand)
        return frozenset() if value is None else frozenset(registers_of(value))

    # ---- fences

    @cached_property
    def _fences(self) -> frozenset[int]:
        return self.points[Op.WGMMA_FENCE] | register_flow.unknown_calls(self.view)

    def unfenced(self) -> Iterator[Unfenced]:
        """Yield the multiplications that lack a fence, the first of each block."""
        if not self.multiplications:
            return
        seen: set[int] = set()
        unwritten = self._unfenced_writes()
        for point in self.multiplications:
            block = self.view.cfg.graph.block_of[point]
            if block in seen:
                continue
            found = unwritten.get(point)
            if found is None or found.zero:
                found = self._never_fenced(point) or found
            if found is not None:
                seen.add(block)
                yield found

    def _never_fenced(self, point: int) -> Unfenced | None:
        if not self.view.function.is_entry:
            return None
        query = Query(None, frozenset({point}), self._fences | (set(self.multiplications) - {point}))
        return None if self.view.get(Paths.of).find(query) is None else Unfenced(point, None)

    def _unfenced_writes(self) -> Mapping[int, Unfenced]:
        states = register_flow.flow(self.view.cfg, self._write_actions)
        found: dict[int, Unfenced] = {}
        wanted = frozenset(self.multiplications)
        for point, state in states.each():
            if point not in wanted or not state:
                continue
            missing = self._missing(point, state)
            if missing is not None:
                found[point] = missing
        return found

    def _missing(self, point: int, state: State) -> Unfenced | None:
        tried: set[Mark] = set()
        for register in in_order(self._results[point] | self._fragments[point]):
            marks = state.get(register)
            if marks is None or tried.issuperset(marks):
                continue
            if CLEAN not in marks:
                return Unfenced(point, max(marks).site, register, self._is_zero(point, register))
            for mark in sorted(marks - tried - {CLEAN}):
                if self._is_path(mark.site, point, register):
                    return Unfenced(point, mark.site, register, self._is_zero(point, register))
            tried |= marks
        return None

    def _is_zero(self, point: int, register: Register) -> bool:
        """Tell whether a register holds a zero that was moved to it, with no other way to get there."""
        name = self.view.facts.name(point, register)
        while name.site >= 0:
            instruction = self.view.body.instructions[name.site]
            if instruction.operation.op is not Op.MOV or instruction.guard is not None:
                return False
            match instruction.operands[-1]:
                case Register() as source:
                    name = self.view.facts.name(name.site, source)
                case Immediate(value=0) | FloatImmediate(bits=0):
                    return True
                case _:
                    return False
        return False

    def _is_path(self, write: int, point: int, register: Register) -> bool:
        definers = self._definers.get(register, frozenset())
        if write not in definers:
            return False
        barred = (self._fences | definers) - {write, point}
        query = Query(frozenset({write}), frozenset({point}), frozenset(barred))
        return self.view.get(Paths.of).find(query) is not None

    @cached_property
    def _definers(self) -> Mapping[Register, frozenset[int]]:
        found: dict[Register, set[int]] = {}
        for point, instruction in enumerate(self.view.body.instructions):
            for register in self._inputs.intersection(instruction.writes()):
                found.setdefault(register, set()).add(point)
        return {register: frozenset(points) for register, points in found.items()}

    @cached_property
    def _inputs(self) -> frozenset[Register]:
        """Registers of multiplications, and those that moves copy to them."""
        found: set[Register] = set()
        for point in self.multiplications:
            found |= self._results[point] | self._fragments[point]
        sources: dict[Register, set[Register]] = {}
        for _, read, written in moves(self.view):
            for target in written:
                sources.setdefault(target, set()).update(read)
        work = list(found)
        while work:
            new = sources.get(work.pop(), set()) - found
            found |= new
            work += new
        return frozenset(found)

    @cached_property
    def _write_actions(self) -> Mapping[int, Action]:
        found: dict[int, Action] = {}
        for point, instruction in enumerate(self.view.body.instructions):
            if point in self._results:
                found[point] = register_flow.cleared(self._results[point])
                continue
            written = self._inputs.intersection(instruction.writes())
            if written:
                found[point] = self._write(point, instruction, written)
        for point in self._fences:
            found[point] = _fenced
        return found

    def _write(self, point: int, instruction: Instruction, written: frozenset[Register]) -> Action:
        if is_move(instruction):
            return register_flow.moved(instruction)
        return register_flow.marked(written, Mark(point, 0))

    # ---- shapes

    def reshaped(self) -> Iterator[tuple[int, int]]:
        """Yield (multiplication, the one before it): other shape, same accumulators, no fence between."""
        if len(set(self._shapes.values())) < 2:
            return
        users: dict[Register, list[int]] = {}
        for point, registers in self._results.items():
            for register in registers:
                users.setdefault(register, []).append(point)
        found: dict[int, int] = {}
        for points in sorted({tuple(points) for points in users.values()}):
            for point in points if len({self._shapes[p] for p in points}) > 1 else ():
                before = self._other_shape_before(point, points)
                if before is not None:
                    found.setdefault(point, before)
        yield from sorted(found.items())

    def _other_shape_before(self, point: int, users: tuple[int, ...]) -> int | None:
        first = frozenset(p for p in users if self._shapes[p] != self._shapes[point])
        barred = self._fences | (frozenset(users) - {point})
        witness = self.view.get(Paths.of).find(Query(first, frozenset({point}), barred)) if first else None
        return None if witness is None else witness.first

    @cached_property
    def _shapes(self) -> Mapping[int, tuple[int, str]]:
        """Number and type of the accumulators of each multiplication."""
        instructions = self.view.body.instructions
        return {
            point: (len(registers), instructions[point].operation.slots.get("dtype", ""))
            for point, registers in self._results.items()
        }

    # ---- ends and calls

    def crossings(self) -> Iterator[tuple[int, int]]:
        """Yield (call or return, multiplication) where a boundary is crossed with no wait between.

        A call that is inlined here is one to ptxas.
        """
        waits = frozenset(self.waits)
        ends = frozenset() if self.view.function.is_entry else frozenset(self.view.cfg.exits)
        calls = self.view.cfg.calls.keys() | self.view.body.inlined_calls
        for point in sorted(calls | ends if self.multiplications else ()):
            query = Query(frozenset(self.multiplications), frozenset({point}), waits - {point})
            witness = self.view.get(Paths.of).find(query)
            if witness is not None and witness.first is not None:
                yield point, witness.first

    def uncommitted_end(self) -> tuple[int, int] | None:
        """Return a multiplication and an end of the thread with no commit between."""
        wanted = frozenset(self.multiplications)
        barred = self.commits | wanted | register_flow.unknown_calls(self.view)
        witness = self.view.get(Paths.of).find(Query(wanted, frozenset(self.view.cfg.exits), barred))
        return None if witness is None or witness.first is None else (witness.first, witness.then)

    def unawaited_end(self) -> tuple[int, int] | None:
        """Return a multiplication in a group and an end of the thread with no wait between."""
        if not self.view.function.is_entry or self.uncommitted_end() is not None:
            return None
        block_of = self.view.cfg.graph.block_of
        last = {block_of[point]: point for point in self.multiplications}
        barred = frozenset(self.waits) | register_flow.unknown_calls(self.view)
        for point in last.values():
            query = Query(frozenset({point}), frozenset(self.view.cfg.exits), barred)
            witness = self.view.get(Paths.of).find(query)
            if witness is not None:
                return point, witness.then
        return None


def _fenced(state: State) -> State:
    return {}


__all__ = ["MULTIPLICATIONS", "WGMMA", "Unfenced", "Wgmma"]
