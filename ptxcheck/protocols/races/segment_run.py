"""All threads of a block from one barrier on, whatever lies in shared memory and in global memory.

Property: at each barrier that `SegmentRun.barriers` yields, `words` says what lies in shared memory there, in every run
that comes to the first barrier with all threads of the block and has no race behind it: sums of the words that lay
there at first, numbers, or nothing that is known. The barriers are those that such a run comes to, in order.

Argument: a run of a block (`block_run`) in which words that were not stored yet are themselves, and additions,
shuffles, and choices between sums are followed as such. A register with one definition, made of the place in the
block alone and executed before, has its number in every round. Nothing else is known at the beginning, and the run
ends where something decides a branch, an address, or a mask that is not known. Threads are executed in one order;
without a race all orders give the same.

Not covered: sums other than of words of 32 bits, and numbers that are added to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...cfg.optypes import typing_of
from ...cfg.special import changes
from ...ir import Operand, Pair, Register
from ...launch import Dim
from ...opcodes.op import Op
from ...terms.effort import Effort, Work
from .block_accesses import BlockAccesses, StoppedError
from .block_memory import OutsideError
from .block_registers import Registers
from .block_run import BlockRun
from .block_steps import Step, Steps, Task
from .lane_exchanges import Active, exchanged
from .lane_integers import Lanes, number
from .made_up_data import zeros
from .sums_of_words import NOTHING, Form, added, word

_WORD = 4
_Sums = list[Form | None]
"""A sum for each thread; None where it is not known."""
_ADDING = frozenset({Op.ADD, Op.SUB, Op.MOV, Op.SHL, Op.SELP, Op.NEG})
_ODD = (".sat", ".cc", ".wide", ".hi")


class _Registers(Registers):
    """Registers whose numbers may be known in some threads only."""

    def __init__(self, steps: Steps, block: Dim) -> None:
        super().__init__(block, {}, steps.layout, steps.local)
        self.current: Active = np.ones(self.padded, np.bool_)
        """The threads that something is read for."""
        self._known: dict[Register, Active] = {}
        """Where registers are known that are not in all threads."""

    def read(self, operand: Operand | None, width: int) -> Lanes | None:
        known = self._known.get(operand) if isinstance(operand, Register) else None
        return None if known is not None and (self.current & ~known).any() else super().read(operand, width)

    def _of_special(self, name: str) -> Lanes | None:
        return None if changes(name) else super()._of_special(name)

    def numbers(self, operand: Operand | None, threads: npt.NDArray[np.int64]) -> list[int | None]:
        """Return what an operand of 32 bits is in some threads; None where that is not known."""
        found = super().read(operand, 32)
        if found is None:
            return [None] * len(threads)
        values: list[int | None] = np.broadcast_to(found, (self.padded,))[threads].tolist()
        if isinstance(operand, Register) and operand in self._known:
            known = self._known[operand][threads].tolist()
            values = [value if is_known else None for value, is_known in zip(values, known, strict=True)]
        return values

    def write(self, target: Operand, values: Lanes | None, where: Active, *, whole: bool) -> None:
        if not isinstance(target, Register) or whole:
            super().write(target, values, where, whole=whole)
            if isinstance(target, Register):
                self._known.pop(target, None)
            return
        old = self._values.get(target)
        known = self._known.pop(target, np.full(self.padded, old is not None))
        known = known & ~where if values is None else known | where
        if not known.any():
            self._values[target] = None
            return
        before = np.zeros(1, np.uint64) if old is None else old
        self._values[target] = before if values is None else np.where(where, values, before)
        if not known.all():
            self._known[target] = known


class _Memory(BlockAccesses):
    """Shared memory as sums of what lay there at first; nothing is known of other memory."""

    def __init__(self, steps: Steps, registers: _Registers, sums: dict[Register, _Sums]) -> None:
        super().__init__(steps, registers, zeros, None)
        self._partly = registers
        self._sums = sums
        self.words: dict[int, Form | int | None] = {}
        """What was stored."""

    def of_word(self, index: int) -> Form | int | None:
        """Return what lies in a word."""
        return self.words[index] if index in self.words else word(index)

    def _load(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, here: Active, *, whole: bool
    ) -> None:  # fmt: skip
        followed = space == ".shared" and step.size == _WORD
        offsets = self.shared.offsets(addresses, _WORD * len(step.elements)).tolist() if followed else []
        for place, element in enumerate(step.elements):
            found = [self.of_word(offset // _WORD + place) for offset in offsets]
            keep(self._partly, self._sums, element, found if followed else None, threads, here, whole=whole)

    def _store(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, here: Active
    ) -> None:
        if space != ".shared":
            return
        size = step.size * len(step.elements)
        offsets = self.shared.offsets(addresses, size).tolist()
        if step.size != _WORD:
            for offset in offsets:
                for index in range(offset // _WORD, (offset + size - 1) // _WORD + 1):
                    self.words[index] = None
            return
        for place, element in enumerate(step.elements):
            values = read(self._partly, self._sums, element, threads)
            for offset, value in zip(offsets, values, strict=True):
                self.words[offset // _WORD + place] = value

    def _change(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, here: Active, *, whole: bool
    ) -> None:  # fmt: skip
        raise StoppedError

    def _touch_rows(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, here: Active, *, whole: bool
    ) -> None:
        raise StoppedError


def read(
    registers: _Registers, sums: Mapping[Register, _Sums], operand: Operand | None, threads: npt.NDArray[np.int64]
) -> list[Form | int | None]:  # fmt: skip
    """Return what an operand of 32 bits is in some threads."""
    if isinstance(operand, Register) and operand in sums:
        held = sums[operand]
        return [held[thread] for thread in threads.tolist()]
    return [*registers.numbers(operand, threads)]


def keep(
    registers: _Registers,
    sums: dict[Register, _Sums],
    target: Operand,
    values: Sequence[Form | int | None] | None,
    threads: npt.NDArray[np.int64],
    here: Active,
    *,
    whole: bool,
) -> None:
    """Lay what is known over a register, in some threads."""
    if not isinstance(target, Register):
        return
    if values is not None and all(isinstance(each, int) for each in values):
        full = np.zeros(here.shape, np.uint64)
        full[here] = np.array(values, np.uint64)
        registers.write(target, full, here, whole=whole)
        if whole:
            sums.pop(target, None)
        elif target in sums:
            _lay_over(sums[target], values, threads)
        return
    known = values is not None and any(each is not None for each in values)
    if not known and target not in sums:
        registers.write(target, None, here, whole=whole)
        return
    if whole:
        sums[target] = [None] * registers.padded
    elif target not in sums:
        every = np.arange(registers.padded, dtype=np.int64)
        sums[target] = [_as_sum(each) for each in read(registers, sums, target, every)]
    _lay_over(sums[target], values or [None] * len(threads), threads)
    registers.write(target, None, here, whole=whole)


def _lay_over(held: _Sums, values: Sequence[Form | int | None], threads: npt.NDArray[np.int64]) -> None:
    for thread, value in zip(threads.tolist(), values, strict=True):
        held[thread] = _as_sum(value)


def _as_sum(value: Form | int | None) -> Form | None:
    """Return a number as a sum: of nothing where it is 0."""
    if isinstance(value, int):
        return None if value else NOTHING
    return value


class SegmentRun(BlockRun):
    """One run from a barrier on; the barrier is one of all threads of the block."""

    def __init__(self, steps: Steps, block: Dim, start: int, effort: Effort) -> None:
        super().__init__(steps, block, {}, zeros)
        self._effort = effort
        self._known = _Registers(steps, block)
        self.registers = self._known
        self.sums: dict[Register, _Sums] = {}
        self.memory = _Memory(steps, self._known, self.sums)
        self._memory = self.memory
        self._start = start
        self._begin()

    @property
    def threads(self) -> int:
        return self.registers.count

    def barriers(self) -> Iterator[int]:
        """Yield the barriers that all threads come to, before they go on. Ends where something is not known."""
        with np.errstate(all="ignore"):
            try:
                self._go_on(self._threads < self.threads, self._start + 1)
                while True:
                    while self._turn():
                        if self._effort.is_over:
                            return
                    place = self._place()
                    if place is None or self._has_ended:
                        return
                    yield place
                    self._meet()
            except (StoppedError, OutsideError):
                return

    def places(self, step: Step) -> Lanes | None:
        """Return the addresses of an access in shared memory, from the first variable on; None if not known."""
        assert step.address is not None
        base: Lanes | None = np.zeros(1, np.uint64)
        self._known.current = self._threads < self.threads
        if step.address.base is not None:
            base = self.registers.read(step.address.base, 64)
        if base is None:
            return None
        addresses = np.broadcast_to(base, (self.registers.padded,))[: self.threads] + number(
            step.address.offset
        )
        size = step.size * len(step.elements)
        try:
            return self.memory.shared.offsets(addresses & number((1 << 32) - 1), size)
        except OutsideError:
            return None

    def _begin(self) -> None:
        """Bring all threads to the first barrier, with the registers that are the same in each round."""
        cfg, registers, start = self._steps.cfg, self.registers, self._start
        block = cfg.graph.block_of[start]
        running = self._threads < registers.count
        self._block[running] = block
        defined: dict[Register, int] = {}
        several: set[Register] = set()
        for point, instruction in enumerate(cfg.instructions):
            for register in instruction.writes():
                several |= {register} & defined.keys()
                defined[register] = point
        for register in defined:
            registers.write(register, None, running, whole=True)
        points = {point for register, point in defined.items() if register not in several}
        order = {each: place for place, each in enumerate(cfg.order)}
        earlier: list[tuple[int, int]] = []
        for point in points:
            its = cfg.graph.block_of[point]
            if point < start if its == block else cfg.dominators.dominates(its, block):
                earlier.append((order[its], point))
        for _, point in sorted(earlier):
            step = self._steps.all[point]
            targets = {*step.instruction.writes()}
            if step.task is Task.COMPUTE and step.guard is None and not targets & several:
                self._compute(step, running, whole=True)

    def _execute_from(self, block: int, point: int, active: Active) -> None:
        self._known.current = active
        super()._execute_from(block, point, active)

    def _come_together(self, step: Step, here: Active) -> Active:
        ready = super()._come_together(step, here)
        self._known.current = self._known.current | ready
        return ready

    # ---- what steps do

    def _execute(self, step: Step, here: Active) -> None:
        self._effort.spend(Work.REPLAY, int(here.sum()))
        whole = self._is_whole(here)
        if step.space == ".global" and step.task in (Task.LOAD, Task.STORE):
            for register in step.instruction.writes():
                keep(self._known, self.sums, register, None, self._threads[here], here, whole=whole)
            return
        if step.task in (Task.COMPUTE, Task.EXCHANGE) and self._is_of_sums(step):
            self._on_sums(step, here, whole=whole)
            return
        is_shuffle = step.task is Task.EXCHANGE and step.instruction.operation.op is Op.SHFL_SYNC
        if is_shuffle and self._sources(step, here) is None:
            raise StoppedError
        super()._execute(step, here)
        if step.task not in (Task.LOAD, Task.STORE):
            self._forget(step, here, whole=whole)

    def _is_of_sums(self, step: Step) -> bool:
        return any(isinstance(each, Register) and each in self.sums for each in step.sources)

    def _forget(self, step: Step, here: Active, *, whole: bool) -> None:
        """Let numbers that were written take the place of sums."""
        for register in step.instruction.writes():
            if register not in self.sums:
                continue
            if whole:
                del self.sums[register]
            else:
                threads = self._threads[here]
                _lay_over(self.sums[register], self._known.numbers(register, threads), threads)

    def _on_sums(self, step: Step, here: Active, *, whole: bool) -> None:
        threads, target = self._threads[here], step.instruction.operands[0]
        if step.task is Task.COMPUTE:
            found = self._added(step, threads)
        else:
            found = self._shuffled(step, here, whole=whole)
            target = target.first if isinstance(target, Pair) else target
        for register in step.instruction.writes():
            if register == target:
                keep(self._known, self.sums, register, found, threads, here, whole=whole)
            elif step.task is Task.COMPUTE:
                keep(self._known, self.sums, register, None, threads, here, whole=whole)

    def _sources(self, step: Step, here: Active) -> tuple[Lanes, Lanes] | None:
        """Return from which thread each one reads in a shuffle, and the predicates; None where one does not run."""
        offset, bounds = (self.registers.read(each, 32) for each in step.sources[1:])
        mask = self.registers.read(step.mask, 32)
        if offset is None or bounds is None or mask is None:
            return None
        every = np.ones(here.shape, np.bool_)
        sources = (
            np.arange(len(here), dtype=np.uint64),
            *(np.broadcast_to(x, here.shape) for x in (offset, bounds)),
        )
        found = exchanged(step.instruction, sources, mask, every)
        return found if found is not None and here[found[0][here].astype(np.int64)].all() else None

    def _shuffled(self, step: Step, here: Active, *, whole: bool) -> list[Form | int | None]:
        found = self._sources(step, here) if step.instruction.operation.op is Op.SHFL_SYNC else None
        if found is None:
            raise StoppedError
        sources, there = found
        target = step.instruction.operands[0]
        if isinstance(target, Pair):
            self.registers.write(target.second, there, here, whole=whole)
        return read(self._known, self.sums, step.sources[0], sources[here].astype(np.int64))

    def _added(self, step: Step, threads: npt.NDArray[np.int64]) -> list[Form | int | None] | None:
        """Return sums that an instruction makes of others; None where it makes something else."""
        op, typing = step.instruction.operation.op, typing_of(step.instruction.operation)
        if op not in _ADDING or typing.width != 32 or any(typing.has(mode) for mode in _ODD):
            return None
        if not typing.is_integer and op not in (Op.MOV, Op.SELP):
            return None
        sources = [read(self._known, self.sums, each, threads) for each in step.sources]
        match op:
            case Op.MOV:
                return sources[0]
            case Op.NEG:
                return [_sum(NOTHING, one, -1) for one in sources[0]]
            case Op.ADD:
                return [_sum(one, two, 1) for one, two in zip(*sources, strict=True)]
            case Op.SUB:
                return [_sum(one, two, -1) for one, two in zip(*sources, strict=True)]
            case Op.SHL:
                return [_shifted(one, by) for one, by in zip(*sources, strict=True)]
            case _:
                tests = self.registers.read(step.sources[2], 1)
                if tests is None:
                    return None
                chosen = np.broadcast_to(tests, (self.registers.padded,))[threads].tolist()
                return [one if test else two for one, two, test in zip(*sources[:2], chosen, strict=True)]


def _sum(one: Form | int | None, two: Form | int | None, factor: int) -> Form | None:
    first, second = _as_sum(one), _as_sum(two)
    return None if first is None or second is None else added(first, second, factor)


def _shifted(one: Form | int | None, by: Form | int | None) -> Form | None:
    first = _as_sum(one)
    if first is None or not isinstance(by, int):
        return None
    return added(NOTHING, first, 1 << by) if by < 32 else NOTHING


__all__ = ["SegmentRun"]
