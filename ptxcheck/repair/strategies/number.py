"""Change a number in the arithmetic behind synchronisation: a start, a stride, a rank, a bound, off by one or two."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate, Instruction
from ...opcodes.op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest
from ..slices import feeding, has_twin
from ..subject import Subject
from .offset import behind_operands

_ADDS = frozenset({Op.ADD, Op.SUB, Op.MAD, Op.MUL, Op.XOR, Op.OR})
_DISTANCE = 8
"""Bytes or columns: multiples of it that are added are distances of stages, boxes and accumulators."""


def change_number(subject: Subject) -> Iterator[Patch]:
    """Yield other constants for those that synchronisation depends on: what other statements have, then what is next.

    Nearest to the finding first, and statements that no other place of the kernel has.
    """
    if subject.finding.counterexample is None:
        return
    writer, instructions = Writer(subject.view), subject.view.body.instructions
    points = tuple(dict.fromkeys((*feeding(subject.view), *behind_operands(subject))))
    for far, point in enumerate(nearest(points, subject.around)):
        instruction = instructions[point]
        for place, operand in enumerate(instruction.operands):
            if not isinstance(operand, Immediate):
                continue
            elsewhere = _elsewhere(subject, point, place)
            agreed = has_twin(subject.view, point)
            distance = 2 + min(far // 4, 4) if agreed else min(far // 8, 2)
            for rank, value in enumerate(dict.fromkeys((*elsewhere, *_near(instruction, operand.value)))):
                edit = writer.with_operand_at(point, place, Immediate(value))
                summary = f"'{edit.replacement}': {value} instead of {operand.value}"
                known = value in elsewhere
                cost = distance + (2 if known else 3 + rank - len(elsewhere))
                yield combined("number", summary, cost, [edit], needs_proof=True)


def _elsewhere(subject: Subject, point: int, place: int) -> list[int]:
    """Return the numbers that other statements have at a place which are the same else."""
    instructions = subject.view.body.instructions
    own = instructions[point]
    rest = (*own.operands[:place], *own.operands[place + 1 :])
    found = (
        each.operands[place]
        for each in instructions
        if each.operation.text == own.operation.text
        and (*each.operands[:place], *each.operands[place + 1 :]) == rest
    )
    values = (other.value for other in found if isinstance(other, Immediate))
    return [value for value in dict.fromkeys(values) if own.operands[place] != Immediate(value)]


def _near(instruction: Instruction, value: int) -> list[int]:
    """Return numbers that one in a statement is mistaken for: a distance in memory only for another whole distance."""
    if instruction.operation.op in _ADDS and value >= _DISTANCE and value % _DISTANCE == 0:
        return [value * 2, value // 2, 0]
    return near(value)


def near(value: int) -> list[int]:
    """Return numbers that a number is easily mistaken for: neighbours, all of its bits, its double, its half."""
    found = [value + 1, value - 1, (1 << value.bit_length()) - 1, value * 2, value // 2, value * 2 + 1]
    return [each for each in dict.fromkeys(found) if each >= 0 and each != value]
