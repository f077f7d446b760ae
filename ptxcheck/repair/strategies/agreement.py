"""Take all numbers of a run of statements from another place that computes the same with other numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate, Instruction, Operand
from ..patch import Patch, Writer, combined
from ..slices import feeding
from ..subject import Subject

_LEAST = 2
"""Numbers that differ; one alone is the business of another strategy."""


def agree_on_numbers(subject: Subject) -> Iterator[Patch]:
    """Yield the numbers of each run of statements for every other run that differs from it in several numbers."""
    if subject.finding.counterexample is None:
        return
    writer, instructions = Writer(subject.view), subject.view.body.instructions
    points = feeding(subject.view)
    starts = {point: _plain(instructions[point]) for point in points}
    for own in points:
        for other in points:
            if own == other or starts[own] != starts[other] or _is_inside(instructions, own, other):
                continue
            pairs = [(p, q) for p, q in _run(instructions, own, other) if instructions[p] != instructions[q]]
            if len(pairs) >= _LEAST:
                edits = [writer.rewritten(p, writer.statement(q)) for p, q in pairs]
                summary = f"'{' '.join(writer.statement(q) for _, q in pairs)}' as elsewhere"
                yield combined("agreement", summary, 3, edits, needs_proof=True)


def _run(instructions: tuple[Instruction, ...], own: int, other: int) -> Iterator[tuple[int, int]]:
    """Yield the statements that are the same but for numbers, from two places on."""
    while max(own, other) < len(instructions) and _plain(instructions[own]) == _plain(instructions[other]):
        yield own, other
        own, other = own + 1, other + 1


def _is_inside(instructions: tuple[Instruction, ...], own: int, other: int) -> bool:
    """Tell whether the run of two places begins earlier."""
    return min(own, other) > 0 and _plain(instructions[own - 1]) == _plain(instructions[other - 1])


def _plain(instruction: Instruction) -> tuple[str, object, tuple[Operand | None, ...]]:
    """Return a statement without its numbers."""
    operands = tuple(None if isinstance(each, Immediate) else each for each in instruction.operands)
    return instruction.operation.text, instruction.guard, operands
