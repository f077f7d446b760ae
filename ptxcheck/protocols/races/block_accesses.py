"""What the threads of one block load and store in a run with numbers, and which touches of shared memory that makes.

Property: each access of shared memory that is performed is in `touches`, with its threads and their offsets.

Argument: the state space is that of the instruction, or that of the addresses; each space has bytes of its own, those
of local memory apart for each thread.

Not covered: accesses through addresses that are not known, or of several spaces at once: the run ends there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...cfg.optypes import typing_of
from ...opcodes.op import Op
from .block_atomics import changed
from .block_memory import BASE, Contents, GlobalBytes, SharedBytes
from .block_registers import LOCAL, Registers
from .block_steps import Step, Steps, Task
from .lane_exchanges import WARP, Active
from .lane_integers import Lanes, cut, number, signed
from .layout import Placed, SharedLayout

_POINTERS = 1 << 32


class StoppedError(Exception):
    """Something is not known that decides what comes next."""


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One access of shared memory by several threads in one step."""

    step: Step
    threads: npt.NDArray[np.int64]
    offsets: Lanes
    """From the first variable on."""
    size: int
    values: Lanes | None
    """What a store stores; None where that is not known, or nothing is stored."""


class BlockAccesses:
    """The memory of one run of a block."""

    def __init__(self, steps: Steps, registers: Registers, contents: Contents, dynamic: int | None) -> None:
        self._registers = registers
        self.shared = SharedBytes(steps.layout, dynamic)
        self.outside = GlobalBytes(contents, steps.element)
        stack = sum(steps.local.values())
        self._stack = stack
        own = SharedLayout({("", 0): Placed("", BASE, stack * registers.padded)} if stack else {})
        self._local = SharedBytes(own)
        self._threads = np.arange(registers.padded, dtype=np.int64)
        self.touches: list[Touch] = []
        """Since the last barrier."""
        self.reached = 0
        """How many bytes from the first shared variable on are used."""

    def access(self, step: Step, here: Active, *, whole: bool) -> None:
        address = step.address
        assert address is not None
        base: Lanes | None = np.zeros(self._registers.padded, np.uint64)
        if address.base is not None:
            base = self._registers.read(address.base, 64)
        if base is None:
            raise StoppedError
        space = self._space(step, base, here)
        addresses = np.broadcast_to(base, here.shape)[here] + number(address.offset)
        threads = self._threads[here]
        if space == ".shared":
            addresses = cut(addresses, 32)
        if step.task is Task.TOUCH:
            self._touch_rows(step, threads, addresses, here, whole=whole)
        elif step.task is Task.CHANGE:
            self._change(step, threads, addresses, space, here, whole=whole)
        elif step.task is Task.LOAD:
            self._load(step, threads, addresses, space, here, whole=whole)
        else:
            self._store(step, threads, addresses, space, here)

    def _space(self, step: Step, base: Lanes, here: Active) -> str:
        """Return the state space of an access: that of its instruction, or that of the addresses."""
        if step.space:
            return step.space
        used = np.broadcast_to(base, here.shape)[here]
        low, high = int(used.min()), int(used.max())
        if low >= _POINTERS:
            return ".global"
        if low >= LOCAL:
            return ".local"
        if low >= BASE and high < BASE + self.shared.size:
            return ".shared"
        raise StoppedError

    def _load(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, here: Active, *, whole: bool
    ) -> None:  # fmt: skip
        size, elements = step.size, step.elements
        offsets = self._offsets(step, threads, addresses, space, size * len(elements))
        for place, element in enumerate(elements):
            at = offsets + number(place * size)
            match space:
                case ".shared":
                    found = self.shared.load(at, size)
                case ".local":
                    found = self._local.load(at, size)
                case ".global":
                    found = self.outside.load(at, size)
                case _:
                    found = None
            if found is not None and size < 4 and typing_of(step.instruction.operation).signed:
                found = cut(signed(found, 8 * size).view(np.uint64), 32)
            full = None
            if found is not None:
                full = np.zeros(here.shape, np.uint64)
                full[here] = found
            self._registers.write(element, full, here, whole=whole)

    def _offsets(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, size: int
    ) -> Lanes:
        """Return where in the bytes of its space an access is, having noted it where that is shared memory."""
        if space == ".shared":
            offsets = self._shared_offsets(addresses, size)
            if step.task is Task.LOAD or step.task is Task.CHANGE:
                self.touches.append(Touch(step, threads, offsets, size, None))
            return offsets
        if space == ".local":
            return self._local.offsets(
                addresses - number(LOCAL) + number(BASE) + self._of_stack(threads), size
            )
        return addresses

    def _shared_offsets(self, addresses: Lanes, size: int) -> Lanes:
        offsets = self.shared.offsets(addresses, size)
        self.reached = max(self.reached, int(offsets.max(initial=0)) + size)
        return offsets

    def _of_stack(self, threads: npt.NDArray[np.int64]) -> Lanes:
        return threads.astype(np.uint64) * np.uint64(self._stack)

    def _store(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, here: Active
    ) -> None:
        size, elements = step.size, step.elements
        offsets = self._offsets(step, threads, addresses, space, size * len(elements))
        for place, element in enumerate(elements):
            read = self._registers.read(element, 8 * size)
            values = None if read is None else cut(np.broadcast_to(read, here.shape)[here], 8 * size)
            at = offsets + number(place * size)
            match space:
                case ".shared":
                    self.touches.append(Touch(step, threads, at, size, values))
                    self.shared.store(at, size, values)
                case ".local":
                    self._local.store(at, size, values)
                case ".global":
                    self.outside.store(at, size, values)
                case _:
                    raise StoppedError

    def _change(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, space: str, here: Active, *, whole: bool
    ) -> None:  # fmt: skip
        if space not in (".shared", ".global"):
            raise StoppedError
        size = step.size
        offsets = self._offsets(step, threads, addresses, space, size)
        memory = self.shared if space == ".shared" else self.outside
        sources = [self._registers.read(each, 8 * size) for each in step.sources]
        rows = [np.broadcast_to(each, here.shape)[here] for each in sources if each is not None]
        old: Lanes | None = None
        if len(rows) == len(sources):
            old = changed(step.instruction, memory, offsets, size, rows)
        if old is None:
            memory.store(offsets, size, None)
        if step.instruction.operation.op is Op.ATOM:
            full = None
            if old is not None:
                full = np.zeros(here.shape, np.uint64)
                full[here] = old
            self._registers.write(step.instruction.operands[0], full, here, whole=whole)

    def _touch_rows(
        self, step: Step, threads: npt.NDArray[np.int64], addresses: Lanes, here: Active, *, whole: bool
    ) -> None:
        """Note the rows of a matrix that lanes name; what is loaded is not known."""
        assert step.access is not None
        used = threads % WARP < step.access.lanes
        offsets = self._shared_offsets(addresses[used], step.size)
        self.touches.append(Touch(step, threads[used], offsets, step.size, None))
        for register in step.instruction.writes():
            self._registers.write(register, None, here, whole=whole)


__all__ = ["BlockAccesses", "StoppedError", "Touch"]
