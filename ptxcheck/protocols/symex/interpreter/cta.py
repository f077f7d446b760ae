"""The state of one CTA in one run: registers, shared numbers, decisions, and what was recorded.

Property: everything that the instructions of a CTA read or change is here; two runs share nothing but the kernel and
what was decided for the CTAs before.

Argument: instructions are run by functions and classes that are given a `Cta` and keep no state of their own besides.

Not covered: the order in which groups of threads run, which is the machine's.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....cfg.optypes import Typing
from ....ir import Instruction, Register
from ....verdict import AssumptionKind
from ..slice.layout import Layout
from ..slice.sliced_program import Program
from ..values import lane_arithmetic as lanes
from ..values.approximated_terms import unwritten_in
from ..values.assumptions import Assumptions, Range, unwritten_text
from ..values.comparisons import loss_of_comparison, loss_of_mask, loss_of_sum
from ..values.register_file import RegisterFile
from ..values.symbol import Decisions, Form, Value
from ..values.trace import Shape, ThreadSet
from ..values.wraparound import COMPARED_WIDE, CUT_NUMBERS, EXTENDED, may_be_cut
from .decider import Deciders
from .divergent_collectives import Parted
from .event_log import EventLog
from .operand_values import Operands
from .options import UNLIMITED, Options
from .shared_numbers import SharedNumbers
from .visits import Visits


class Cta:
    """The parts of the state, made for one another."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        shape: Shape,
        rank: int,
        decisions: Decisions,
        deciders: Deciders,
        options: Options,
    ) -> None:
        self.program = program
        self.layout = layout
        self.shape = shape
        self.rank = rank
        self.threads = shape.threads
        self.decisions = decisions
        self.options = options
        self.assumptions = Assumptions()
        self.assume = self.assumptions.note
        self.decider = deciders.decider(program, shape, rank, decisions, self.assume)
        self.registers = RegisterFile(shape.threads)
        self.visits = Visits()
        self.log = EventLog(self.decider, options.observation)
        self.operands = Operands(
            layout, shape, rank, self.registers, self.decider, self.visits,
            observation=options.observation, host=options.host,
        )  # fmt: skip
        self.shared = SharedNumbers(
            program, layout, rank, shape.threads, self.operands, self.decider, self.log, self.assume
        )
        self.parted = Parted(program, shape.threads)
        self._deciders = deciders

    def apart(self) -> Cta:
        """Return the state of a CTA of the same rank that has decided nothing, for what needs nothing but computing."""
        made = Cta(
            self.program,
            self.layout,
            self.shape,
            self.rank,
            Decisions(),
            self._deciders.apart(),
            Options(budget=UNLIMITED),
        )
        made.decider.speculative = 1
        return made

    def write_opaque(
        self, instruction: Instruction, guard: ThreadSet, *parts: Value | str, differs: int
    ) -> None:
        """Give everything that an instruction writes a symbol of its own."""
        for number, register in enumerate(dict.fromkeys(instruction.writes())):
            if register in self.program.wanted:
                name, *rest = parts
                assert isinstance(name, str)
                self.registers.write(register, guard, lanes.opaque(name, number, *rest, differs=differs))

    def write_all(self, instruction: Instruction, guard: ThreadSet, value: Value) -> None:
        """Give everything that an instruction writes one value."""
        for register in instruction.writes():
            self.registers.write(register, guard, value)

    def note_unwritten(self, value: Value, point: int) -> None:
        """Note that something synchronises or accesses by a number that depends on a register not written."""
        register = unwritten_in(value) if isinstance(value, Form) else ""
        if register:
            self.assume(AssumptionKind.UNDEFINED, unwritten_text(register), point)

    def note_partly_written(self, register: Register, threads: ThreadSet, point: int) -> None:
        """Note that something is decided by a register that only some of the threads have written."""
        if self.registers.unwritten(register, threads) not in (0, threads):
            self.assume(AssumptionKind.UNDEFINED, unwritten_text(register.name), point)

    def forget_results(self, instruction: Instruction, threads: ThreadSet) -> None:
        """Take what an instruction writes from threads that have not written what it reads."""
        for register in instruction.writes() if threads else ():
            self.registers.erase(register, threads)

    def note_stored(self, value: Value, width: int, point: int) -> None:
        """Note that a symbol is taken to fit into what is stored of it, where it may not."""
        if may_be_cut(value, width):
            self.assume(AssumptionKind.CUT, CUT_NUMBERS, point)

    def note_comparison(self, relation: str, types: Typing, left: Value, right: Value, point: int) -> None:
        """Note what a comparison takes for granted of the symbols in it."""
        loss = loss_of_comparison(relation, left, right, types.width, signed_operands=types.signed)
        sides = [each for each in (left, right) if isinstance(each, Form)]
        if loss and not (loss == COMPARED_WIDE and all(map(self.decider.is_positive, sides))):
            self.assume(AssumptionKind.CUT, loss, point)
            if loss == COMPARED_WIDE:
                for side in sides:
                    self.assumptions.note_fits(side, Range.UNSIGNED)

    def note_sum(self, values: Sequence[Value], result: Value, point: int) -> None:
        """Note what a sum of 64 bits takes for granted of what cancels in it."""
        loss = loss_of_sum(values, result)
        if loss:
            self.assume(AssumptionKind.CUT, loss, point)

    def note_mask(self, value: Value, mask: Value, point: int) -> None:
        """Note what a mask of 64 bits takes for granted of the number that it masks."""
        loss = loss_of_mask(value, mask) if isinstance(value, Form) and isinstance(mask, int) else ""
        if loss and isinstance(value, Form) and not self.decider.is_positive(value):
            self.assume(AssumptionKind.CUT, loss, point)
            self.assumptions.note_fits(value, Range.UNSIGNED)

    def note_loss(self, loss: str, types: Typing, values: Sequence[Value], point: int) -> None:
        """Note what an instruction may take from the symbols that it reads."""
        for value in values:
            if isinstance(value, Form) and (
                may_be_cut(value, types.width) if loss == CUT_NUMBERS
                else loss != EXTENDED or not self.decider.is_positive(value)
            ):  # fmt: skip
                self.assume(AssumptionKind.CUT, loss, point)
                if loss in (EXTENDED, CUT_NUMBERS):
                    held = Range.UNSIGNED if loss == EXTENDED else Range.SIGNED
                    self.assumptions.note_fits(value, held)
                return
