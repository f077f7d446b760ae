"""Candidate patches, and how statements are changed in the text of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..ir import Instruction, Label, Operand
from ..parser.show import show_instruction
from ..view import KernelView
from .edits import Edit
from .sites import step_at

PARITY = "parity"
"""The strategy that lets a wait wait for the other parity."""


@dataclass(frozen=True, slots=True)
class Release:
    """An arrival that a patch puts in, for sources: they name barriers where PTX has distances."""

    waits: tuple[int, ...]
    """Waits of the threads that arrive: it comes behind what they let through."""
    awaited_by: tuple[int, ...]
    """Waits for the mbarrier at which they arrive."""
    by_one_lane: bool = False
    """One lane of each warp arrives, behind a barrier of its warp."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits of a PTX text that may repair a finding. Smaller `cost` is tried first."""

    edits: tuple[Edit, ...]
    strategy: str
    summary: str
    """What it does, for people: `expect 8192 bytes instead of 4096`."""
    cost: int
    guess: bool = False
    """It makes the text legal, and nothing tells that it is what the author meant: never more than suggested."""
    local: bool = False
    """It changes numbers, types, sizes or alignments: nothing that synchronises, no access, no branch."""
    needs_proof: bool = False
    """Nothing but a proof of the whole kernel speaks for it: it is never suggested."""
    release: Release | None = None
    is_whole: bool = False
    """It puts in all that is missing, and is verified in full before any other: short runs do not tell."""


class Writer:
    """Makes edits in the text of a kernel, one statement a line, indented like its neighbour."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._text = view.module.source.text
        self._instructions = view.body.instructions
        self._statements = view.body.statements

    def before(self, point: int, *statements: str) -> Edit:
        """Insert statements before an instruction."""
        start = self._instructions[point].start
        return Edit(start, start, "".join(f"{text}\n{self._indent(start)}" for text in statements))

    def ahead(self, point: int, *statements: str) -> Edit:
        """Insert statements before an instruction and its last label: jumps to that, of a loop, do not come past."""
        start = self._heads.get(point, self._instructions[point].start)
        return Edit(start, start, "".join(f"{text}\n{self._indent(start)}" for text in statements))

    def after(self, point: int, *statements: str) -> Edit:
        """Insert statements after an instruction."""
        instruction = self._instructions[point]
        end = self._end(instruction)
        indent = self._indent(instruction.start)
        return Edit(end, end, "".join(f"\n{indent}{text}" for text in statements))

    def before_step(self, point: int, *statements: str) -> Edit:
        """Insert statements before an instruction; before the loop of a poll, and the jumps to it, where it is one."""
        step = step_at(self._view, point)
        return (
            self.ahead(step.first, *statements) if step.last > step.first else self.before(point, *statements)
        )

    def after_step(self, point: int, *statements: str) -> Edit:
        """Insert statements after an instruction, after the loop of a poll where it is one."""
        return self.after(step_at(self._view, point).last, *statements)

    def delete(self, point: int) -> Edit:
        """Remove an instruction."""
        instruction = self._instructions[point]
        return Edit(instruction.start, self._end(instruction), "")

    def with_operand(self, point: int, name: str, operand: Operand) -> Edit:
        """Replace the operand that the table calls `name`."""
        return self.with_operand_at(point, self._instructions[point].operation.operand_index[name], operand)

    def with_operand_at(self, point: int, place: int, operand: Operand) -> Edit:
        """Replace an operand by its place."""
        instruction = self._instructions[point]
        operands = (*instruction.operands[:place], operand, *instruction.operands[place + 1 :])
        return self.rewritten(point, show_instruction(replace(instruction, operands=operands)))

    def rewritten(self, point: int, statement: str) -> Edit:
        """Replace a whole instruction."""
        instruction = self._instructions[point]
        return Edit(instruction.start, self._end(instruction), statement)

    def within(self, point: int, declared: Sequence[str], statement: str) -> Edit:
        """Put an instruction, as it is to be written, into a block of its own behind some statements."""
        begin = self.before(point, "{", *declared)
        end = self.after(point, "}")
        return Edit(begin.start, end.end, begin.replacement + statement + end.replacement)

    def statement(self, point: int) -> str:
        """Return the text of an instruction."""
        instruction = self._instructions[point]
        return self._text[instruction.start : self._end(instruction)]

    @cached_property
    def _heads(self) -> dict[int, int]:
        """Start of the last label right before each labelled point."""
        found: dict[int, int] = {}
        point, last = 0, -1
        for statement in self._statements:
            if isinstance(statement, Instruction):
                if last >= 0:
                    found[point] = last
                point, last = point + 1, -1
            elif isinstance(statement, Label):
                last = statement.span.start
        return found

    def _end(self, instruction: Instruction) -> int:
        end = instruction.end
        if not self._text[:end].endswith(";"):
            end = self._text.index(";", end) + 1
        return end

    def _indent(self, place: int) -> str:
        line = self._text.rfind("\n", 0, place) + 1
        return self._text[line : line + len(self._text[line:place]) - len(self._text[line:place].lstrip())]


def combined(
    strategy: str,
    summary: str,
    cost: int,
    edits: Sequence[Edit],
    *,
    local: bool = False,
    needs_proof: bool = False,
) -> Patch:
    """Return one patch of several edits."""
    return Patch(tuple(sorted(edits)), strategy, summary, cost, local=local, needs_proof=needs_proof)
