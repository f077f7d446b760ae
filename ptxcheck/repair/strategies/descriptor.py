"""Set fields of a matrix descriptor right behind its computation: those that the architecture prescribes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...descriptors.matrix import operand as operands
from ...descriptors.matrix.bit_fields import FieldRangeError, Layout
from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...descriptors.matrix.tile import CORE_BYTES, CORE_ROWS, Tile
from ...ir import Register
from ...protocols.typestate.matrix_operands import MatrixOperand
from ...protocols.typestate.matrix_tiles import MatrixTiles
from ..patch import Patch, Writer
from ..subject import Subject

_FIELDS = frozenset({"WG014", "TM019"})
_BASES = frozenset({"WG017", "TM022"})
_STRIDES = frozenset({"WG018", "TM023", "WG019", "TM024"})
_MODES = frozenset({"TD065", "TM026"})
"""Rules that compare the swizzle mode with what fixes it: one mode passes, or none."""
_PATTERN = 1024
"""Bytes after which the 128-byte swizzle repeats."""


def set_descriptor_field(subject: Subject) -> Iterator[Patch]:
    """Yield descriptors with the fields that a rule is about set right, and guesses where several values are legal."""
    rule = subject.finding.rule
    if rule not in _FIELDS | _BASES | _STRIDES | _MODES:
        return
    for operand in subject.view.get(MatrixTiles).operands.all:
        if operand.point != subject.point:
            continue
        for cost, (numbers, guess) in enumerate(_numbers(subject, operand, rule)):
            doubtful = guess and not _agrees(subject, operand, numbers) and not _exchanges(operand, numbers)
            yield from _set(subject, operand, numbers, 1 + cost + doubtful, doubtful)


def _numbers(subject: Subject, operand: MatrixOperand, rule: str) -> Iterator[tuple[Mapping[str, int], bool]]:
    """Yield fields with their new numbers, and whether they are a guess."""
    if rule in _FIELDS:
        target = subject.view.module.target
        broken = operands.broken(operand.layout, operand.fields, target)
        fixed = {
            name: int(name == "version")
            for one in broken
            for name in one.fields
            if name.startswith(("unused", "version"))
        }
        if fixed:
            yield fixed, False
        elif any(one.id == "mode" for one in broken):
            yield from (({"mode": mode}, True) for mode in range(8) if operands.swizzle(operand.layout, mode))
        elif broken:
            yield {"leading_is_address": 0}, True
    elif rule in _MODES:
        for mode in range(8):
            known = operands.swizzle(operand.layout, mode)
            if known is None or mode == operand.fields.get("mode"):
                continue
            yield {"mode": mode}, rule != "TD065"
            if rule == "TD065":
                yield {"mode": mode, "leading": CORE_BYTES, "stride": CORE_ROWS * known.span}, False
    elif rule in _BASES:
        start = operand.start
        if start is not None:
            yield {"base": start.offset >> 7 & 7}, False
        yield {"base": 0}, True
    else:
        tile = subject.view.get(MatrixTiles).tile(operand)
        if tile is not None and tile.is_modelled:
            yield from ((numbers, True) for numbers in canonical_strides(tile))


def _agrees(subject: Subject, operand: MatrixOperand, numbers: Mapping[str, int]) -> bool:
    """Tell whether other descriptors of the kernel have these numbers, and none has others."""
    others = [
        other
        for other in subject.view.get(MatrixTiles).operands.all
        if other.layout is operand.layout
        and other.name != operand.name
        and numbers.keys() <= other.fields.keys()
    ]
    return bool(others) and all(
        other.layout.encode({name: other.fields[name] for name in numbers}) == operand.layout.encode(numbers)
        for other in others
    )


def _exchanges(operand: MatrixOperand, numbers: Mapping[str, int]) -> bool:
    """Tell whether two fields get each the number of the other one."""
    if numbers.keys() != {"leading", "stride"} or not numbers.keys() <= operand.fields.keys():
        return False
    return numbers == {"leading": operand.fields["stride"], "stride": operand.fields["leading"]}


def canonical_strides(tile: Tile) -> Iterator[dict[str, int]]:
    """Yield leading and stride offsets in bytes of a tile without gaps: groups of 8 rows inside, then outside."""
    block = CORE_ROWS * tile.mode.span
    inner, outer = (block, block * tile.repeats), (block * tile.groups, block)
    for repeat, group in (inner, outer):
        leading, stride = tile.steps(repeat, group)
        if tile.k_major and tile.mode is not SwizzleMode.NONE:
            leading = CORE_BYTES
        yield {"leading": leading, "stride": stride}


def _set(
    subject: Subject, operand: MatrixOperand, numbers: Mapping[str, int], cost: int, guess: bool
) -> Iterator[Patch]:
    register = subject.view.body.instructions[operand.point].get(operand.name)
    if not isinstance(register, Register):
        return
    made = subject.view.facts.definitions(operand.point, register)
    try:
        bits = operand.layout.encode(numbers)
    except FieldRangeError:
        return
    mask = _others(operand.layout, numbers)
    text = (
        f"and.b64 {register.name}, {register.name}, {mask:#x};",
        f"or.b64 {register.name}, {register.name}, {bits:#x};",
    )
    edits = tuple(Writer(subject.view).after(point, *text) for point in made)
    if edits:
        shown = ", ".join(f"{operand.layout.by_name[name].text} {number}" for name, number in numbers.items())
        yield Patch(edits, "descriptor", f"{operand.title}: {shown}", cost, guess)


def _others(layout: Layout, numbers: Mapping[str, int]) -> int:
    mask = (1 << layout.width) - 1
    for name in numbers:
        mask &= ~layout.by_name[name].mask
    return mask
