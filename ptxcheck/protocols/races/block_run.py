"""One block executed with numbers, all threads: which accesses of shared memory are made between two barriers.

Property: the touches that `BlockRun.intervals` yields are those of one execution that PTX allows, of the block alone,
for the parameters and the contents of global memory that are given: one list for each barrier interval. A thread is in
one of two lists in a row only if a barrier of the whole block lies between.

Argument: threads are executed in turns, from the one that is furthest behind in the order of the blocks; whatever the
turns are, the result is an interleaving of the threads, and what a load gives is what lies there at that moment. An
instruction of several lanes waits until all lanes that its mask names have come or ended. Where something is not known
(an instruction without a meaning here, memory of other spaces), results are not known either, and the run ends where
one of these decides a branch, an address, or a mask.

Not covered: barriers that not all threads count at, calls, and what other blocks do. The run ends there, and after a
number of steps: what was yielded is the beginning of an execution all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ...cfg import AtomKind, EdgeKind, Name
from ...cfg.optypes import typing_of
from ...ir import Pair, Register
from ...launch import Dim
from ...opcodes.spec import Trait
from .block_accesses import BlockAccesses, StoppedError, Touch
from .block_memory import Contents, GlobalBytes, OutsideError, SharedBytes
from .block_registers import Registers
from .block_steps import Step, Steps, Task
from .lane_exchanges import WARP, Active, exchanged
from .lane_integers import number

MOST_STEPS = 10_000
"""Instructions of a run, each for all threads that execute it together."""
_FAR = np.int64(1 << 62)
_RUNS, _AT_BARRIER, _AT_LANES, _ENDED = range(4)


class BlockRun:
    """One run of a block."""

    def __init__(
        self,
        steps: Steps,
        block: Dim,
        inputs: Mapping[str, int],
        contents: Contents,
        dynamic: int | None = None,
    ) -> None:
        self._steps = steps
        self._inputs = inputs
        self.registers = Registers(block, inputs, steps.layout, steps.local)
        self._memory = BlockAccesses(steps, self.registers, contents, dynamic)
        padded = self.registers.padded
        self._threads = np.arange(padded, dtype=np.int64)
        cfg = steps.cfg
        self._block = np.full(padded, cfg.order[0], np.int64)
        self._point = np.full(padded, cfg.blocks[cfg.order[0]].start if cfg.blocks else 0, np.int64)
        self._state = np.where(self._threads < self.registers.count, _RUNS, _ENDED)
        self._ranks = _ranks(steps)
        self._left = MOST_STEPS
        self._has_tried = False
        self.is_complete = False
        self.has_stopped = False
        """Whether steps were spent, or an instruction was met that is not followed."""

    @property
    def shared(self) -> SharedBytes:
        return self._memory.shared

    @property
    def outside(self) -> GlobalBytes:
        return self._memory.outside

    @property
    def reached(self) -> int:
        """Return how many bytes from the first shared variable on are used."""
        return self._memory.reached

    @property
    def steps_taken(self) -> int:
        """Return the effort: instructions, each for all threads that executed it together."""
        return MOST_STEPS - self._left

    def intervals(self) -> Iterator[list[Touch]]:
        """Yield the touches of each barrier interval. Raises OutsideError where the numbers break what is asked for."""
        while True:
            with np.errstate(all="ignore"):
                going = self._through_interval()
            yield self._memory.touches
            if not going:
                return
            self._memory.touches = []

    def _through_interval(self) -> bool:
        try:
            while self._turn():
                pass
        except StoppedError:
            self.has_stopped = True
            return False
        if (self._state == _ENDED).all():
            self.is_complete = True
            return False
        return self._meet()

    def _meet(self) -> bool:
        """Let all threads out of a barrier; False where they do not all wait at one place."""
        place, waiting = self._place(), self._state == _AT_BARRIER
        if place is None:
            return False
        self._state[waiting] = _RUNS
        self._go_on(waiting, place + 1)
        return True

    def _place(self) -> int | None:
        """Return the barrier that all threads wait at which have not ended."""
        waiting = self._state == _AT_BARRIER
        points = np.unique(self._point[waiting])
        is_one = len(points) == 1 and (waiting | (self._state == _ENDED)).all()
        return int(points[0]) if is_one else None

    @property
    def _has_ended(self) -> bool:
        """Tell whether a thread of the block has ended."""
        return bool((self._state[: self.registers.count] == _ENDED).any())

    def _is_whole(self, here: Active) -> bool:
        """Tell whether no other thread is left."""
        return bool((here | (self._state == _ENDED)).all())

    def _turn(self) -> bool:
        """Execute the threads that are furthest behind to the end of their basic block; False where none can go on."""
        ranks = np.where(self._state == _RUNS, self._ranks[self._block] + self._point, _FAR)
        least = ranks.min()
        if least == _FAR:
            return self._try_again()
        active: Active = ranks == least
        first = int(active.argmax())
        self._execute_from(int(self._block[first]), int(self._point[first]), active)
        return True

    def _execute_from(self, block: int, point: int, active: Active) -> None:
        """Execute threads from a point to the end of their basic block, as far as they come."""
        for step in self._steps.all[point : self._steps.cfg.blocks[block].end]:
            self._left -= 1
            if self._left < 0:
                raise StoppedError
            if step.task is Task.NOTHING:
                continue
            here = active
            if step.guard is not None:
                here = active & self._holds(step.guard.register, negated=step.guard.negated)
                if not here.any():
                    continue
            if step.task is Task.MEET_BLOCK:
                self._hold(here, _AT_BARRIER, step.point)
                active = active & ~here
            elif step.task in _TOGETHER:
                ready = self._come_together(step, here)
                active = (active & ~here) | ready
                here = ready
            if here.any():
                self._execute(step, here)
            elif not active.any():
                return
        self._leave(block, active)

    def _try_again(self) -> bool:
        """Let lanes that wait for others look again, as some may have ended; False where that has been tried."""
        waiting = self._state == _AT_LANES
        if self._has_tried or not waiting.any():
            return False
        self._has_tried = True
        self._state[waiting] = _RUNS
        return True

    def _hold(self, threads: Active, state: int, point: int) -> None:
        self._state[threads] = state
        self._point[threads] = point

    # ---- control

    def _holds(self, register: Register, *, negated: bool) -> Active:
        test = self.registers.read(register, 1)
        if test is None:
            raise StoppedError
        found: Active = (test == number(0)) if negated else (test != number(0))
        return np.broadcast_to(found, (self.registers.padded,))

    def _go_on(self, threads: Active, point: int) -> None:
        """Let threads go on at a point, which may be the end of their basic block."""
        self._point[threads] = point
        block = int(self._block[threads][0])
        if point >= self._steps.cfg.blocks[block].end:
            self._leave(block, threads)

    def _leave(self, block: int, threads: Active) -> None:
        """Take threads along the edges out of a basic block."""
        cfg = self._steps.cfg
        left = threads
        for edge in cfg.edges_from(block):
            if edge.kind is EdgeKind.UNKNOWN:
                raise StoppedError
            taken = left
            if edge.kind is EdgeKind.INDIRECT:
                index = self.registers.read(cfg.instructions[cfg.blocks[block].last].operands[0], 32)
                if index is None:
                    raise StoppedError
                taken = left & np.isin(index, np.array(edge.cases, np.uint64))
            elif edge.guard is not None:
                taken = left & self._holds(edge.guard.register, negated=edge.guard.negated)
            if not taken.any():
                continue
            left = left & ~taken
            if edge.kind is EdgeKind.TRAP:
                raise OutsideError
            if edge.target == cfg.exit:
                self._state[taken] = _ENDED
            else:
                self._block[taken] = edge.target
                self._point[taken] = cfg.blocks[edge.target].start
        if left.any():
            raise StoppedError

    def _come_together(self, step: Step, here: Active) -> Active:
        """Let lanes wait for all that their mask names; return those that have all of them, earlier ones among them."""
        come = here | ((self._state == _AT_LANES) & (self._point == step.point))
        named = number((1 << WARP) - 1) if step.mask is None else self.registers.read(step.mask, 32)
        if named is None:
            raise StoppedError
        there = (come | (self._state == _ENDED)).reshape(-1, WARP)
        present = (there.astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        ready: Active = come & (named & ~np.repeat(present, WARP) == number(0))
        self._hold(here & ~ready, _AT_LANES, step.point)
        if ready.any():
            self._has_tried = False
            self._state[ready] = _RUNS
        return ready

    # ---- what steps do

    def _execute(self, step: Step, here: Active) -> None:
        whole = self._is_whole(here)
        match step.task:
            case Task.COMPUTE:
                self._compute(step, here, whole=whole)
            case Task.PARAMETER:
                self._parameter(step, here, whole=whole)
            case Task.LOAD | Task.STORE | Task.CHANGE | Task.TOUCH:
                self._memory.access(step, here, whole=whole)
            case Task.EXCHANGE:
                self._exchange(step, here, whole=whole)
            case Task.MEET_WARP | Task.MEET_BLOCK:
                return
            case _:
                self._not_known(step, here, whole=whole)

    def _not_known(self, step: Step, here: Active, *, whole: bool) -> None:
        traits = step.instruction.operation.traits
        if not traits.isdisjoint(_NOT_FOLLOWED) or step.access is not None:
            raise StoppedError
        for register in step.instruction.writes():
            self.registers.write(register, None, here, whole=whole)

    def _compute(self, step: Step, here: Active, *, whole: bool) -> None:
        meaning = step.meaning
        assert meaning is not None
        sources = [
            self.registers.read(each, width) for each, width in zip(step.sources, meaning.widths, strict=True)
        ]
        known = [each for each in sources if each is not None]
        result = meaning.function(*known) if len(known) == len(sources) else None
        width = typing_of(step.instruction.operation).width
        self.registers.put(step.instruction.operands[0], result, width, here, whole=whole)

    def _parameter(self, step: Step, here: Active, *, whole: bool) -> None:
        for register in step.instruction.writes():
            value = self._steps.facts.value_of(Name(register, step.point))
            number_ = None
            if value is not None and value.linear is not None and len(value.linear.terms) == 1:
                (atom, factor) = value.linear.terms[0]
                if atom.kind is AtomKind.PARAMETER and factor == 1 and not value.linear.constant:
                    number_ = self._inputs.get(str(atom))
            found = None if number_ is None else np.full(self.registers.padded, number(number_))
            self.registers.write(register, found, here, whole=whole)

    def _exchange(self, step: Step, here: Active, *, whole: bool) -> None:
        sources = [self.registers.read(each, 32) for each in step.sources]
        known = [each for each in sources if each is not None]
        mask = self.registers.read(step.mask, 32)
        found = None
        if len(known) == len(sources) and mask is not None:
            found = exchanged(step.instruction, known, mask, here)
        first, second = found if found is not None else (None, None)
        target = step.instruction.operands[0]
        if isinstance(target, Pair):
            self.registers.write(target.first, first, here, whole=whole)
            self.registers.write(target.second, second, here, whole=whole)
        else:
            self.registers.write(target, first, here, whole=whole)


def _ranks(steps: Steps) -> npt.NDArray[np.int64]:
    """Return for each basic block what it comes behind: inside of loops first, so that threads wait for the others.

    Reverse post-order of a search that follows the ways out of a loop before those that stay.
    """
    cfg = steps.cfg
    depth = [0] * (len(cfg.blocks) + 1)
    for loop in cfg.loops:
        for block in loop.blocks:
            depth[block] += 1
    found: list[int] = []
    seen = {cfg.order[0]}
    stack = [(cfg.order[0], iter(sorted(cfg.successors[cfg.order[0]], key=lambda each: depth[each])))]
    while stack:
        block, left = stack[-1]
        following = next((each for each in left if each not in seen), None)
        if following is None:
            found.append(block)
            stack.pop()
        else:
            seen.add(following)
            ways = iter(sorted(cfg.successors[following], key=lambda each: depth[each]))
            stack.append((following, ways))
    ranks = np.zeros(len(cfg.blocks) + 1, np.int64)
    for place, block in enumerate(reversed(found)):
        ranks[block] = place * (len(cfg.instructions) + 1)
    return ranks


_TOGETHER = frozenset({Task.EXCHANGE, Task.MEET_WARP, Task.TOUCH})
_NOT_FOLLOWED = frozenset({Trait.CALL, Trait.ANYTHING, Trait.BARRIER, Trait.STORE, Trait.ATOMIC, Trait.ASYNC})

__all__ = ["MOST_STEPS", "BlockRun", "OutsideError", "Touch"]
