"""One instruction of the slice for a set of threads: its guard, threads that read different symbols, what it records.

Property: after `Execution.step`, the registers, shared numbers and events are those after every thread of the set has
executed the instruction, or not, as its guard says.

Argument: the guard is decided where the instruction is an event that is counted; elsewhere a result is the new value or
the old one by the guard. Threads with different symbols in an operand execute it one set after the other.

Not covered: more than `MOST_PARTS` such sets: results are symbols then, and events are not followed.
"""

from __future__ import annotations

from ....ir import Instruction
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ....terms.effort import Work
from ....verdict import Need
from ..values.kinds import Kind
from ..values.merging import merge
from ..values.register_file import SplitError
from ..values.substitution import failing
from ..values.symbol import LANE, WARP, Form
from ..values.thread_sets import MOST_PARTS, holds_whole_warps, warps_by_number
from ..values.trace import NotFollowedError, OutOfTimeError, ThreadSet, TooLongError
from .cta import Cta
from .event_recording import EventRecorder
from .shared_accesses import AccessRecorder
from .shared_words import ParkError
from .unwritten_registers import perform_written

_TOO_LONG = "more steps than the budget allows"


class Execution:
    """Executes instructions of one CTA."""

    def __init__(self, cta: Cta) -> None:
        self.cta = cta
        self.accesses = AccessRecorder(cta)
        self.events = EventRecorder(cta)
        self._cta = cta
        self._program = cta.program
        self._decider = cta.decider
        self._budget = self._aside = cta.options.budget
        """Steps that are left, and instructions that are only noted: a loop of such alone would not end."""
        self._effort = cta.options.effort

    def allow_more(self) -> None:
        """Give the other threads the steps of a whole run, as some stop that have made so many."""
        self._budget = self._aside = self._cta.options.budget

    def _step_aside(self, point: int) -> None:
        self._aside -= 1
        if self._aside < 0:
            raise TooLongError(_TOO_LONG, point, need=Need.VALUES)
        if not self._aside & 63 and self._cta.options.is_late():
            raise OutOfTimeError(point)

    def step(self, point: int, threads: ThreadSet) -> None:
        """Execute one instruction. Raises ParkError, HaltError, NotFollowedError."""
        instruction = self._program.cfg.instructions[point]
        if point in self._program.stores.ring_loads and self._read_apart(point, instruction, threads):
            return
        if point in self._program.accesses:
            self.accesses.record(point, instruction, threads)
            if point not in self._program.points:
                self._step_aside(point)
                return
        if point in self._program.member_masks:
            self.events.meet_lanes(point, instruction, threads)
            if point not in self._program.points:
                self._step_aside(point)
                return
        self._budget -= 1
        if self._budget < 0:
            raise TooLongError(_TOO_LONG, point, need=Need.VALUES)
        self._effort.spend(Work.STEP)
        if not self._budget & 63 and self._cta.options.is_late():
            raise OutOfTimeError(point)
        if point in self._program.leaving:
            return
        guard = threads if instruction.guard is None else self._guarded(instruction, threads, point)
        if not guard:
            return
        try:
            self._perform(point, instruction, guard, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, guard, threads, split.parts)

    def _read_apart(self, point: int, instruction: Instruction, threads: ThreadSet) -> bool:
        """Run a read of several stages of a ring for the warps at each: they are in turns of their own.

        False where all read one, or lanes of one warp several.
        """
        try:
            address = self._cta.operands.value(instruction.operands[1], threads)
        except SplitError:
            return False
        parts = [] if isinstance(address, int | Form) else warps_by_number(address, threads)
        if len(parts) < 2:
            return False
        before = len(self._cta.log.events)
        try:
            for part in parts:
                self.step(point, part)
        except ParkError:
            self._cta.log.begin_access(before)
            raise
        return True

    def _perform_parts(
        self,
        point: int,
        instruction: Instruction,
        guard: ThreadSet,
        threads: ThreadSet,
        parts: tuple[ThreadSet, ...],
    ) -> None:
        """Run an instruction for each set of threads that reads one symbol."""
        crossing = Trait.CROSS_LANE in instruction.operation.traits
        if len(parts) > MOST_PARTS or (
            crossing and not all(holds_whole_warps(p, guard, self._cta.threads) for p in parts)
        ):
            if point in self._program.events:
                raise NotFollowedError("operands differ between too many threads", point)
            self._cta.write_opaque(
                instruction,
                guard,
                Kind.MERGED,
                point,
                self._cta.visits.count(("merged", point)),
                differs=LANE | WARP,
            )
            return
        rest = guard
        for part in parts:
            rest &= ~part
        for part in (*parts, rest):
            if part & guard:
                try:
                    self._perform(point, instruction, part & guard, threads)
                except SplitError as split:
                    self._perform_parts(point, instruction, part & guard, threads, split.parts)

    def _guarded(self, instruction: Instruction, threads: ThreadSet, point: int) -> ThreadSet:
        """Return the threads that execute an instruction; take its results from those whose guard is unwritten."""
        assert instruction.guard is not None
        register = instruction.guard.register
        unwritten = self._cta.registers.unwritten(register, threads)
        if point in self._program.events:
            self._cta.note_partly_written(register, threads, point)
        holds = self._holding(instruction, threads, point)
        if unwritten != threads:
            self._cta.forget_results(instruction, unwritten)
        return holds

    def _holding(self, instruction: Instruction, threads: ThreadSet, point: int) -> ThreadSet:
        """Return the threads for which the guard of an instruction holds."""
        guard = instruction.guard
        assert guard is not None
        holds: ThreadSet = 0
        decided = point in self._program.events and point not in self._program.thread_copies
        for held, truth in self._cta.operands.truths(guard, threads):
            known = self._decider.known(truth, held, point if decided else -1)
            if known is None:
                assert isinstance(truth, Form)
                if point in self._program.thread_copies:
                    self._may_copy(point, instruction, held & ~failing(truth, self._cta.threads), threads)
                    continue
                if point not in self._program.events:
                    self._guarded_write(point, instruction, held, truth)
                    continue
                known = self._decider.decide(truth, held, point)
            holds |= known
        if decided and not self._decider.speculative:
            for taken in (True, False):
                if holds if taken else threads & ~holds:
                    self._cta.options.took(point, taken, False)
        return holds

    def _may_copy(self, point: int, instruction: Instruction, held: ThreadSet, threads: ThreadSet) -> None:
        """Record a copy that threads make or not."""
        self._decider.speculative += 1
        try:
            self._perform(point, instruction, held, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, held, threads, split.parts)
        self._decider.speculative -= 1

    def _guarded_write(self, point: int, instruction: Instruction, threads: ThreadSet, truth: Form) -> None:
        """Run an instruction whose guard is open: each result is the new value or the old one."""
        registers = [r for r in dict.fromkeys(instruction.writes()) if r in self._program.wanted]
        before = [self._cta.registers.snapshot(register) for register in registers]
        self._decider.speculative += 1
        try:
            self._perform(point, instruction, threads, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, threads, threads, split.parts)
        self._decider.speculative -= 1
        for register, old in zip(registers, before, strict=True):
            new = self._cta.registers.snapshot(register)
            self._cta.registers.restore(register, old)
            merge(self._cta.registers, register, new, old, threads, truth)
            left = threads
            for mask, _ in old or []:
                left &= ~mask
            if left:
                for held, value in [(mask & left, v) for mask, v in new or [] if mask & left]:
                    self._cta.registers.write(register, held, value)

    def _perform(self, point: int, instruction: Instruction, guard: ThreadSet, threads: ThreadSet) -> None:
        if point in self._program.events:
            self.events.record(point, instruction, guard, threads)
            return
        perform_written(self._cta, point, instruction, guard)
        if instruction.operation.op is Op.ELECT_SYNC:
            self.events.record_election(point, guard, threads)
