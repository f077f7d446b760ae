"""A kernel to mutate: its text, its synchronising statements, and edits of that text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ptxcheck.cfg import build
from ptxcheck.cfg.cfg import Cfg
from ptxcheck.ir import (
    Body,
    Function,
    Instruction,
    Label,
    Module,
)
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Trait
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

POLLS = frozenset({Op.MBARRIER_TRY_WAIT, Op.MBARRIER_TEST_WAIT})
SYNCHRONISING = frozenset({Trait.MBARRIER, Trait.BARRIER, Trait.WAIT, Trait.COMMIT, Trait.FENCE})
_LONGEST_POLL_LOOP = 12


@dataclass(frozen=True, slots=True)
class Unit:
    """Points that one synchronising step is made of: an instruction, or a poll with the loop around it."""

    first: int
    last: int


@dataclass(frozen=True)
class Subject:
    """One kernel of a module; edits leave the rest of the text as it is."""

    module: Module
    function: Function

    @property
    def text(self) -> str:
        return self.module.source.text

    @cached_property
    def cfg(self) -> Cfg:
        return build(self.function)

    @property
    def body(self) -> Body:
        assert self.function.body is not None
        return self.function.body

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        return self.body.instructions

    @cached_property
    def sites(self) -> tuple[int, ...]:
        """Points of synchronising instructions and of copies that signal an mbarrier, in order."""
        return tuple(
            point
            for point, instruction in enumerate(self.instructions)
            if instruction.operation.traits & SYNCHRONISING or instruction.get("mbar") is not None
        )

    @cached_property
    def unit_of(self) -> dict[int, Unit]:
        """The step that each site belongs to."""
        return {point: self._unit(point) for point in self.sites}

    def _unit(self, point: int) -> Unit:
        loop = self.cfg.loop_of(point)
        if self.instructions[point].operation.op in POLLS and loop is not None:
            points = [p for block in loop.blocks for p in self.cfg.blocks[block].points]
            if max(points) - min(points) < _LONGEST_POLL_LOOP:
                return Unit(min(points), max(points))
        return Unit(point, point)

    @cached_property
    def labelled(self) -> frozenset[int]:
        """Points with a label in front of them."""
        return frozenset(self.body.labels.values())

    @cached_property
    def _heads(self) -> dict[int, int]:
        """Offset of the first label right before each labelled point."""
        found: dict[int, int] = {}
        point, first = 0, -1
        for statement in self.body.statements:
            if type(statement) is Instruction:
                if first >= 0:
                    found[point] = first
                point, first = point + 1, -1
            elif isinstance(statement, Label) and first < 0:
                first = statement.span.start
        return found

    def line(self, point: int) -> int:
        return self.module.source.position(self.instructions[point].start).line

    def statement(self, point: int) -> str:
        """Return an instruction as it is written."""
        instruction = self.instructions[point]
        return self.text[instruction.start : instruction.end]

    # -- edits: each returns the whole text

    def replaced(self, point: int, new: str) -> str:
        """Return the text with another statement, or none, in place of one."""
        instruction = self.instructions[point]
        return self.text[: instruction.start] + new + self.text[instruction.end :]

    def moved_before_step(self, point: int, target: int) -> str:
        """Return the text with a statement in front of an earlier point and its label."""
        instruction = self.instructions[point]
        at = self._heads.get(target, self.instructions[target].start)
        moved = self.statement(point)
        return "".join(
            (self.text[:at], moved, "\n", self.text[at : instruction.start], self.text[instruction.end :])
        )

    def moved_after(self, point: int, target: int) -> str:
        """Return the text with a statement right in front of the instruction behind a later point."""
        instruction, at = self.instructions[point], self.instructions[target + 1].start
        moved = self.statement(point)
        return "".join(
            (self.text[: instruction.start], self.text[instruction.end : at], moved, "\n", self.text[at:])
        )


def subjects(source: Source, kernel: str | None = None) -> Iterator[Subject]:
    """Yield each kernel of a module, or the one that is named, alone in a copy of its text.

    The text of other kernels is blanked, so that lines stay where they are. Raises ValueError for text with
    syntax errors.
    """
    module = parse_module(source)
    if module.problems:
        raise ValueError(f"{source.name}: {module.problems[0].message}")
    for function in module.entries:
        if kernel is None or function.name == kernel:
            alone = parse_module(Source(source.name, _blanked(module, function)))
            yield Subject(alone, alone.entries[0])


def _blanked(module: Module, kept: Function) -> str:
    text = module.source.text
    for function in reversed(module.entries):
        if function is not kept:
            start, end = function.span
            text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text
