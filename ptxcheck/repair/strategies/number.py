"""Change a number in the arithmetic behind synchronisation: a start, a stride, a rank, a bound, off by one or two."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate
from ..patch import Patch, Writer, combined
from ..sites import nearest
from ..slices import feeding
from ..subject import Subject


def change_number(subject: Subject) -> Iterator[Patch]:
    """Yield constants next to each one that synchronisation depends on, nearest to the finding first."""
    if subject.finding.counterexample is None:
        return
    writer, instructions = Writer(subject.view), subject.view.body.instructions
    for far, point in enumerate(nearest(feeding(subject.view), subject.around)):
        instruction = instructions[point]
        for place, operand in enumerate(instruction.operands):
            if not isinstance(operand, Immediate):
                continue
            for rank, value in enumerate(near(operand.value)):
                edit = writer.with_operand_at(point, place, Immediate(value))
                summary = f"'{edit.replacement}': {value} instead of {operand.value}"
                yield combined("number", summary, 3 + rank + min(far // 4, 4), [edit], needs_proof=True)


def near(value: int) -> list[int]:
    """Return numbers that a number is easily mistaken for: its neighbours, all of its bits, its double, its half."""
    found = [value + 1, value - 1, (1 << value.bit_length()) - 1, value * 2, value // 2]
    return [each for each in dict.fromkeys(found) if each >= 0 and each != value]
