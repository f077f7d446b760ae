"""Events of one CTA: synchronising instructions as threads execute them, with their operands.

Property: an event has the number or symbol of each operand that says what is synchronised, for the threads that execute
it; which barrier, which phase and how many threads are numbers, or the run is not followed.

Argument: operands are evaluated as registers are, with decided predicates put in; a symbol is made a number only
where the decisions leave one, or the decider takes one.

Not covered: whether an event blocks; polls succeed, but for those that the options let fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ir import Address as AddressOperand
from ....ir import Instruction, Operand, registers_of
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ....verdict import AssumptionKind
from ...typestate.address_kinds import takes_generic, takes_offset
from ..slice.accesses import is_pointer
from ..slice.layout import OF_COPIES
from ..slice.polling import POLLS
from ..values import lane_arithmetic as lanes
from ..values.assumptions import READ_ALIKE
from ..values.kinds import Kind
from ..values.symbol import FROM_SHARED, LANE, WARP, Form, Value
from ..values.thread_sets import by_warp, is_one_value_in, warps_of
from ..values.trace import NotFollowedError, Peek, ThreadSet
from .bounded_polls import MOST_COUNTED, Tries
from .cta import Cta
from .generic_addresses import check_generic, check_offset, is_inside

STATE_TOKEN = 1 << 62
"""Bit of a number that stands for the state which the arrive with the event index in the low bits returned."""
_CTA_BARRIERS = frozenset({Op.BAR_SYNC, Op.BAR_RED})
_MEETING = frozenset({Op.BAR_WARP_SYNC, Op.ELECT_SYNC})
"""Warp-collectives that are events by themselves."""
_STATES = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP})
_NUMBERS = frozenset({"addr", "mbar", "mask", "parity", "barrier", "threads", "count", "dst"})
"""Operands that have to be numbers: which barrier, which phase, how many."""
_PLACES = frozenset({"src", "a_desc", "b_desc", "s_desc"})
"""Operands that say where something is read, and may stay symbols."""
_MOVED = frozenset({"src", "dst"})
"""Operands that say what is moved. What is no mbarrier is told where mbarriers are looked up."""
_BYTES = frozenset({"size", "tx_count"})
"""Operands that say how many bytes are counted: those that are announced and those that come are compared."""


class EventRecorder:
    """Records the events of one CTA."""

    def __init__(self, cta: Cta) -> None:
        self._cta = cta
        self._program = cta.program
        self._decider = cta.decider
        self._tries = Tries()

    def record(self, point: int, instruction: Instruction, guard: ThreadSet, threads: ThreadSet) -> None:
        """Record that the threads of `guard` execute a synchronising instruction that `threads` came to."""
        operation = instruction.operation
        if Trait.ANYTHING in operation.traits:
            raise NotFollowedError(operation.problem or f"unknown instruction '{operation.text}'", point)
        if Trait.CALL in operation.traits:
            text = "call of a function that may synchronise, access shared memory or end threads"
            raise NotFollowedError(text, point)
        if point in self._program.peeks and len(warps := by_warp(guard, self._cta.threads)) > 1:
            for warp in warps:  # each may find another answer
                self.record(point, instruction, warp, threads)
            return
        if point in self._program.polls_of_lanes:
            self._check_one_phase(point, guard)
        peek = self._peek(point, guard)
        if peek is not None and self._cta.options.peek_fails(peek):
            if self._cta.options.counts_tries:
                self._tries.failed(peek, len(self._cta.log.events))
            self._cta.write_all(instruction, guard, 0)
            return
        if peek is not None:
            self._cta.log.peeks[len(self._cta.log.events)] = peek
        self._record(point, instruction, threads, guard)

    def record_election(self, point: int, guard: ThreadSet, threads: ThreadSet) -> None:
        """Record that lanes have met to choose one of them."""
        if not self._decider.speculative:
            self._cta.log.append(point, guard, self._mask_at(point), threads)

    def _mask_at(self, point: int) -> dict[str, Value]:
        mask = self._program.member_masks[point]
        return {} if mask is None else {"member_mask": mask}

    def meet_lanes(self, point: int, instruction: Instruction, threads: ThreadSet) -> None:
        """Record that lanes wait at an instruction for others of a mask, if it does not record that itself."""
        is_event = instruction.operation.op in _MEETING and point in self._program.points
        operand = self._program.open_masks.get(point)
        if is_event:
            if operand is not None:
                self._check_mask(point, instruction, operand, threads)
            return
        guard = threads
        if instruction.guard is not None:
            guard = 0
            for held, truth in self._cta.operands.truths(instruction.guard, threads):
                known = self._decider.known(truth, held)
                if known is None:
                    return
                guard |= known
        if operand is not None:
            self._meet_by_mask(point, operand, guard, threads)
            return
        alone = self._cta.parted.threads(point, guard)
        if not alone:
            return
        if self._decider.speculative:
            self.take_together(point)
        else:
            self._cta.log.append(point, alone, self._mask_at(point), threads)

    def _check_mask(self, point: int, instruction: Instruction, operand: Operand, threads: ThreadSet) -> None:
        """Tell what is taken of a mask that is not known: a barrier orders the lanes that it names, and no others.

        Raises NotFollowedError for a barrier.
        """
        if all(not isinstance(mask, Form) for _, mask in self._cta.operands.values(operand, threads)):
            return
        if instruction.operation.op is Op.BAR_WARP_SYNC:
            raise NotFollowedError(
                "which lanes wait for each other here is not known: the member mask is not", point
            )
        self.take_together(point)

    def _meet_by_mask(self, point: int, operand: Operand, guard: ThreadSet, threads: ThreadSet) -> None:
        """Record that lanes wait for those of a mask that is computed."""
        for held, mask in self._cta.operands.values(operand, guard):
            if isinstance(mask, Form) or self._decider.speculative:
                self.take_together(point)
            else:
                self._cta.log.append(point, held, {"member_mask": mask}, threads)

    def take_together(self, point: int) -> None:
        """Assume that all lanes of a mask come to a warp-collective together."""
        self._cta.assume(
            AssumptionKind.MEMBER_MASK, "the lanes that a member mask names come together", point
        )

    def _record(self, point: int, instruction: Instruction, threads: ThreadSet, guard: ThreadSet) -> None:
        operands: dict[str, Value] = {}
        for spec, operand in self._program.followed_at(point):
            self._check_written(operand, guard, point)
            written = self._cta.operands.value(operand, guard)
            if isinstance(operand, AddressOperand) and takes_generic(instruction):
                check_generic(operand, written, guard, self._cta.threads, point)
            if isinstance(operand, AddressOperand) and takes_offset(instruction, spec):
                check_offset(operand, written, guard, self._cta.threads, point)
            followed = self._followed(spec.name, written, guard, point)
            is_moved = spec.name in _MOVED and isinstance(operand, AddressOperand)
            is_place = is_moved and takes_offset(instruction, spec) and not self._decider.speculative
            operands[spec.name] = self._place(followed, guard, point) if is_place else followed
            if isinstance(operand, AddressOperand) and spec.second is not None:
                address = instruction[spec.name]
                assert isinstance(address, AddressOperand)
                if address.extra:
                    extra = operand.extra[0] if operand.extra else None
                    operands[spec.second.name] = (
                        0 if extra is None else self._cta.operands.value(extra, guard)
                    )
        if instruction.operation.op is Op.ST_ASYNC:
            self._note_teller(point, guard)
        index = self._cta.log.append(point, guard, operands, threads)
        if (
            instruction.operation.op in _CTA_BARRIERS
            and operands.get("threads", self._cta.threads) == self._cta.threads
        ):
            self._cta.shared.pass_barrier(guard)
        op = instruction.operation.op
        if op in POLLS or Trait.BARRIER in instruction.operation.traits:
            self._cta.shared.wait(guard)
        if op in POLLS:
            self._cta.write_all(instruction, guard, 1)
        elif op in _STATES:
            self._cta.write_all(instruction, guard, STATE_TOKEN | index)
        else:
            differs = self._differing(instruction, operands, guard)
            visit = self._cta.visits.count(("result", point))
            self._cta.write_opaque(instruction, guard, Kind.RESULT, point, visit, differs=differs)

    def _place(self, address: Value, guard: ThreadSet, point: int) -> Value:
        """Return where something is moved; a symbol for a place in no variable, but for what is misaligned anyway."""
        if isinstance(address, int) and address % OF_COPIES:
            return address
        is_known = is_inside(self._cta.layout, address, 1, guard, self._cta.threads)
        return address if is_known else lanes.opaque(Kind.RESULT, "outside", point)

    def _note_teller(self, point: int, guard: ThreadSet) -> None:
        """Note that this CTA tells all of its cluster something: where several do, who is heard first is open."""
        broadcasts = self._program.stores.broadcasts
        if broadcasts.words and point in broadcasts.stores:
            told = (1 << self._cta.shape.ctas) - 1
            if any(~guard >> first & told for first in warps_of(guard, self._cta.threads)):
                raise NotFollowedError("only some CTAs of a cluster are told numbers by this store", point)
            self._cta.decisions.tellers.add(self._cta.rank)
            if len(self._cta.decisions.tellers) > 1:
                raise NotFollowedError(
                    "several CTAs of a cluster tell all of them numbers at the same place", point
                )

    def _differing(self, instruction: Instruction, operands: Mapping[str, Value], guard: ThreadSet) -> int:
        """Return between which threads the result of an event may differ: those that meet at a barrier have one."""
        if Trait.BARRIER not in instruction.operation.traits:
            return LANE | WARP
        barrier, needed = operands.get("barrier", 0), operands.get("threads", self._cta.threads)
        warps = sum(1 for _ in warps_of(guard, self._cta.threads))
        if isinstance(barrier, int) and isinstance(needed, int) and 32 * warps < needed + 32:
            return 0
        return LANE | WARP if lanes.differs_of(barrier) & LANE else WARP

    def _followed(self, name: str, value: Value, guard: ThreadSet, point: int) -> Value:
        """Return an operand of an event, a number where it has to be one; nothing is decided for what may not run."""
        if not isinstance(value, Form):
            return value
        if self._decider.speculative:
            self._cta.note_unwritten(value, point)
            return self._decider.placed(value)
        self._cta.operands.note_use(value)
        made = self._decider.concrete(value, guard, point)
        self._cta.note_unwritten(made, point)
        value = self._decider.reduced(made)
        if isinstance(value, Form) and name in _BYTES and value.origin & FROM_SHARED:
            self._cta.assume(AssumptionKind.SHARED_LOAD, READ_ALIKE, point)
        if isinstance(value, Form) and name in _NUMBERS:
            value = self._decider.single(value, guard)
            if not isinstance(value, Form) or is_pointer(value):
                return value
            return (self._decider.parity if name == "parity" else self._decider.settled)(value, point)
        return self._decider.placed(value) if name in _PLACES else value

    def _peek(self, point: int, guard: ThreadSet) -> Peek | None:
        """Return the name of a poll that is not repeated, None for everything else."""
        if point not in self._program.peeks:
            return None
        first = (guard & -guard).bit_length() - 1
        counts = point in self._program.polls_that_count
        if self._tries.is_over(point, first, counts=counts):
            often = MOST_COUNTED if counts else "a thousand"
            text = f"a poll that has failed {often} times is tried until it succeeds"
            self._cta.assume(AssumptionKind.TRIES, text, point)
            return None
        again = self._tries.again(point, first, len(self._cta.log.events))
        return again or (point, first, self._cta.visits.count(("peek", point, first)))

    def _check_one_phase(self, point: int, guard: ThreadSet) -> None:
        """Raise NotFollowedError where lanes of a warp poll different phases, and what each finds decides."""
        first = (guard & -guard).bit_length() - 1
        for _, operand in self._program.followed_at(point):
            value = self._cta.operands.value(operand, guard)
            if isinstance(value, int):
                continue
            if isinstance(value, Form):
                is_one = is_one_value_in(value.differs, guard, first)
            else:
                is_one = all(
                    value[n] == value[first] for n in range(first, guard.bit_length()) if guard >> n & 1
                )
            if not is_one:
                raise NotFollowedError(
                    "lanes of a warp poll different phases here, and go by what each finds", point
                )

    def _check_written(self, operand: Operand, guard: ThreadSet, point: int) -> None:
        if not all(self._cta.registers.covers(register, guard) for register in registers_of(operand)):
            raise NotFollowedError("some of its threads have not written a register that it reads", point)
