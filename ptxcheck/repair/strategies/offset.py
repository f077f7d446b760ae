"""Round an offset in shared memory to a place where a box or a tile may start, for all who use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...descriptors.matrix.tile import CORE_ROWS
from ...ir import (
    Address,
    Immediate,
    Operand,
    Register,
)
from ...protocols.typestate.matrix_tiles import MatrixTiles
from ..patch import Patch, Writer, combined
from ..slices import is_arithmetic
from ..subject import Subject

_PLACES = {
    "BG011": ("dst", "src"),
    "TD062": ("dst", "src"),
    "TM021": ("a_desc", "b_desc", "s_desc"),
    "WG016": ("a_desc", "b_desc"),
}
"""Operands that hold or are computed from the address, by rule."""
_ALIGNMENTS = {"BG011": (128, 256, 512, 1024), "TD062": (256, 512, 1024)}
_TILE = 16
"""Of a tile without a swizzle; with one, its pattern."""
_LEAST = 8
"""Smaller constants are no offsets."""
_DEPTH = 8
_OF_PLACES = ("SM02", "TM03", "TM04")
"""Findings about places in memory."""


def round_offset(subject: Subject) -> Iterator[Patch]:
    """Yield constants of the address of a finding as multiples of what the box or the tile needs."""
    names = _PLACES.get(subject.finding.rule, ())
    instruction = subject.instruction
    for name in names if instruction is not None else ():
        assert instruction is not None
        operand = instruction.get(name)
        if isinstance(operand, Address) and operand.offset:
            for cost, offset in enumerate(_above(subject, operand.offset)):
                edit = Writer(subject.view).with_operand(subject.point, name, replace(operand, offset=offset))
                summary = f"start at {offset} instead of {operand.offset}"
                yield combined("offset", summary, 2 + cost, [edit])
        if operand is not None:
            yield from _computed(subject, operand)


def _above(subject: Subject, offset: int) -> list[int]:
    """Return the next multiples of the alignments that boxes need; for tiles none, and the next one."""
    alignments = _ALIGNMENTS.get(subject.finding.rule)
    if alignments is None:
        return [0, -(-offset // _pattern(subject)) * _pattern(subject)]
    return [n for n in dict.fromkeys(-(-offset // a) * a for a in alignments) if n != offset]


def _is_bounded(subject: Subject) -> bool:
    """Tell whether rules see that what starts behind the offset ends in its variable."""
    tiles = [each for each in subject.view.get(MatrixTiles).operands.all if each.point == subject.point]
    return all(each.start is not None and each.start.is_known for each in tiles)


def _pattern(subject: Subject) -> int:
    """Return the bytes after which the swizzle of the tiles that the instruction reads repeats."""
    own = (each for each in subject.view.get(MatrixTiles).operands.all if each.point == subject.point)
    spans = [each.mode.span for each in own if each.mode is not None and each.mode is not SwizzleMode.NONE]
    return max((CORE_ROWS * span for span in spans), default=_TILE)


def _computed(subject: Subject, operand: Operand) -> Iterator[Patch]:
    """Yield the changes of constants in the arithmetic behind an operand."""
    writer, instructions = Writer(subject.view), subject.view.body.instructions
    for point in behind(subject, operand):
        instruction = instructions[point]
        for place, each in enumerate(instruction.operands):
            if not isinstance(each, Immediate) or each.value < _LEAST:
                continue
            for cost, value in enumerate(_above(subject, each.value)):
                edit = writer.with_operand_at(point, place, Immediate(value))
                summary = f"'{edit.replacement}': {value} instead of {each.value}"
                outside = value > each.value and not _is_bounded(subject)
                yield Patch((edit,), "offset", summary, 2 + cost, guess=outside)


def behind(subject: Subject, operand: Operand, at: int | None = None) -> list[int]:
    """Return the points of the arithmetic that an operand comes from, the last first: of the finding's instruction."""
    register = operand.base if isinstance(operand, Address) else operand
    if not isinstance(register, Register):
        return []
    view, found = subject.view, list[int]()
    work = [(subject.point if at is None else at, register, 0)]
    while work:
        point, wanted, depth = work.pop(0)
        for definition in view.facts.definitions(point, wanted) if depth < _DEPTH else ():
            instruction = view.body.instructions[definition]
            if definition not in found and is_arithmetic(instruction):
                found.append(definition)
                work += [(definition, each, depth + 1) for each in instruction.reads()]
    return found


def behind_operands(subject: Subject) -> Iterator[int]:
    """Yield the arithmetic behind the places in memory that the statements of the finding name."""
    if subject.finding.rule.startswith(_OF_PLACES):
        for point in (subject.point, *subject.related):
            if point >= 0:
                for operand in subject.view.body.instructions[point].operands:
                    if isinstance(operand, Address):
                        yield from behind(subject, operand, point)
