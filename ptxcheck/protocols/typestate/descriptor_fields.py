"""Whether matrix and instruction descriptors are ones that the hardware takes (PTX ISA §9.7.16.5.1, 9.7.17.4).

Property: `violated` rests on a flaw that every run shows (see `matrix_tiles`). `proved` means that in every run each
descriptor that an instruction reads has its start address in the bits of that field, legal numbers in all others, and
offsets with which no two parts of its tile share bytes; that the warps of a warpgroup pass the same one to `wgmma`; and
that instruction descriptors are in the tables of their kind. Fields that are not followed may have any number.

Not asked: whether a tile lies in its buffer and in the stage that its barrier guards, which slot safety is about. So
what a kernel adds to the address of a variable in shared memory is taken to give one again, and to carry no further
than the field of the start; of numbers that come from elsewhere that is an assumption.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from ...cfg import AtomKind, Uniformity
from ...descriptors.matrix import instruction as words
from ...descriptors.matrix import operand as operands
from ...descriptors.matrix.bit_fields import BitField, Layout
from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...verdict import (
    AssumptionSource,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from .judgement import Judgement, assumes, verdict_of
from .largest_block import Launched
from .matrix_operands import InstructionWord, MatrixOperand, MatrixOperands
from .matrix_tiles import MatrixTiles
from .tensor_bounds import SLOT, TensorBounds
from .tensor_memory import COLUMNS, TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

_START_BITS = 14
"""Bits of the start of a tile, the lowest ones of its descriptor."""
_IN_SHARED = "tiles of the matrix unit start in shared memory, with all that is added to where they start"
_MOST_NUMBERS = 4096
"""Combinations of fields that are not followed to try."""


def descriptor_field_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on matrix and instruction descriptors; None for a kernel that has none."""
    found = launched.view.get(MatrixTiles).operands
    if not found.all and not found.instruction_words:
        return None
    return verdict_of(Property.MATRIX_DESCRIPTORS, _judgements(launched))


def _judgements(launched: Launched) -> Iterator[Judgement]:
    view, tiles = launched.view, launched.view.get(MatrixTiles)
    flaws = (
        tiles.illegal_fields(), tiles.unencoded_addresses(), tiles.misaligned(), tiles.base_offsets(), tiles.overlaps(),
        tiles.differing(), tiles.transposed(),
    )  # fmt: skip
    for flaw in (flaw for each in flaws for flaw in each):
        kind = VerdictKind.VIOLATED if flaw.sure else VerdictKind.UNKNOWN
        yield kind, Reason(f"{flaw.operand.title}: {flaw.message}", flaw.operand.point)
    of_host: set[int] = set()
    in_slots = _Slots(view)
    for word in tiles.operands.instruction_words:
        for one in tiles.broken(word):
            yield (
                VerdictKind.VIOLATED,
                Reason(f"the instruction descriptor is illegal: {one.text}", word.point),
            )
        if word.shape.kind.layout.fields and not word.fields and (name := host_descriptor(view, word.point)):
            of_host.add(word.point)
            text = f"the instruction descriptor that the host passes in {name} is legal, and fits the tiles"
            yield assumes(text, word.point, AssumptionSource.HOST)
        else:
            yield from _of_word(view, word, in_slots)
    yield from _of_sums(tiles.operands.all)
    for operand in tiles.operands.all:
        yield from _of_operand(launched, operand, of_host)


def host_descriptor(view: KernelView, point: int) -> str | None:
    """Return the kernel parameter that an instruction descriptor is, None when it is something else."""
    form = view.facts.value(point, view.body.instructions[point].get("idesc")).linear
    if form is None or form.constant or len(form.terms) != 1:
        return None
    ((atom, factor),) = form.terms
    return f"param+{atom.at}" if atom.kind is AtomKind.PARAMETER and factor == 1 else None


class _Slots:
    """Instruction descriptors with ids of scale factors out of addresses of tensor memory.

    An allocation of all columns starts at column 0, and its ids are those of the constants that are added.
    """

    def __init__(self, view: KernelView) -> None:
        self._bounds = TensorBounds(view)
        self._operands = MatrixOperands(view, self._number)
        self.is_sure = True

    @cached_property
    def fields(self) -> Mapping[int, Mapping[str, int]]:
        """The fields of each multiplication."""
        return {word.point: word.fields for word in self._operands.instruction_words}

    def _number(self, load: int) -> int | None:
        found = self._bounds.allocated_at(load)
        if found is None or found[0] != COLUMNS:
            return None
        self.is_sure &= found[1]
        return 0


def _of_word(view: KernelView, word: InstructionWord, in_slots: _Slots) -> Iterator[Judgement]:
    missing = _missing(word.shape, word.fields)
    if missing is None:
        return
    fields = in_slots.fields.get(word.point, {})
    if broken := next(words.broken(word.shape, fields), None):
        yield (
            VerdictKind.UNKNOWN,
            Reason(f"the instruction descriptor may be illegal: {broken.text}", word.point),
        )
    elif _missing(word.shape, fields) is not None:
        text = f"{word.shape.kind.layout.by_name[missing].text} in the instruction descriptor is not followed"
        yield VerdictKind.UNKNOWN, Reason(text, word.point)
    elif not in_slots.is_sure:
        yield assumes(SLOT, min(view.get(TensorMemory).allocations), AssumptionSource.ENVIRONMENT)


def _missing(shape: words.Shape, fields: Mapping[str, int]) -> str | None:
    """Return a field that is not known, and with which some condition does not hold."""
    for one in words.CONSTRAINTS:
        if shape.kind in one.kinds and not _holds_for_all(
            shape.kind.layout, fields, one.fields, lambda *numbers, one=one: one.holds(shape, *numbers)
        ):
            return next(name for name in one.fields if name not in fields)
    return None


def _of_operand(launched: Launched, operand: MatrixOperand, of_host: set[int]) -> Iterator[Judgement]:
    view = launched.view
    target = view.module.target
    for one in operands.CONSTRAINTS[operand.layout.name]:
        if not _holds_for_all(
            operand.layout, operand.fields, one.fields, lambda *numbers, one=one: one.holds(*numbers, target)
        ):
            missing = next(name for name in one.fields if name not in operand.fields)
            yield _not_followed(operand, operand.layout.by_name[missing])
    if "mode" not in operand.fields:
        yield _not_followed(operand, operand.layout.by_name["mode"])
        return
    if operand.point not in of_host:
        yield from _of_tile(view, operand)
    if operand.is_hopper:
        yield from _agreement(launched, operand)


def _of_sums(operands: Iterable[MatrixOperand]) -> Iterator[Judgement]:
    """Yield what is not known of sums that may not fit into their fields."""
    carrying = [(one, segment) for one in operands for segment in one.word.segments if segment.carries]
    for operand, segment in carrying:
        if segment.end > _START_BITS:
            text = f"{operand.title}: whether a sum fits into its field is not known"
            yield VerdictKind.UNKNOWN, Reason(text, operand.point)
    for operand, _ in carrying[:1]:
        yield assumes(_IN_SHARED, operand.point, AssumptionSource.ENVIRONMENT)


def _of_tile(view: KernelView, operand: MatrixOperand) -> Iterator[Judgement]:
    """Yield what is not known of the parts of a tile."""
    tile = view.get(MatrixTiles).tile(operand)
    if tile is None:
        yield (
            VerdictKind.UNKNOWN,
            Reason(f"{operand.title}: the shape of its tile is not known", operand.point),
        )
        return
    needed = (("leading", tile.uses_leading), ("stride", tile.uses_stride))
    for name, is_used in needed:
        if is_used and name not in operand.fields:
            yield _not_followed(operand, operand.layout.by_name[name])
    if not tile.is_modelled:
        text = f"{operand.title}: where parts of a tile with {tile.mode.value} lie is not followed"
        yield VerdictKind.UNKNOWN, Reason(text, operand.point)
    if "base" not in operand.fields and tile.mode is not SwizzleMode.NONE:
        yield _not_followed(operand, operand.layout.by_name["base"])


def _agreement(launched: Launched, operand: MatrixOperand) -> Iterator[Judgement]:
    """Yield why the warps of a warpgroup may pass different descriptors."""
    for view, taken in launched.each():
        level = view.facts.uniform(operand.point, view.body.instructions[operand.point].get(operand.name))
        if level <= Uniformity.WARPGROUP or _is_one_start(view, operand):
            if taken is not None and level > Uniformity.CTA:
                yield VerdictKind.ASSUMES, taken
            return
    if level is Uniformity.WARP:
        text = "the four warps of a warpgroup are taken to pass the same descriptor, by what each of them has found"
        yield assumes(text, operand.point, AssumptionSource.ENVIRONMENT)
    else:
        text = f"{operand.title}: whether the warps of a warpgroup pass the same descriptor is not known"
        yield VerdictKind.UNKNOWN, Reason(text, operand.point)


def _is_one_start(view: KernelView, operand: MatrixOperand) -> bool:
    """Tell whether nothing but the start is not known of a descriptor, and the start is one in each warpgroup."""
    if len(operand.fields) < len(operand.layout.fields) - 1:
        return False
    tiles = view.get(MatrixTiles)
    return any(
        tiles.agrees_by_thread(one)
        for one in tiles.operands.all
        if (one.point, one.name) == (operand.point, operand.name)
    )


def _not_followed(operand: MatrixOperand, field: BitField) -> Judgement:
    return VerdictKind.UNKNOWN, Reason(f"{operand.title}: {field.text} is not followed", operand.point)


def _holds_for_all(layout: Layout, known: Mapping[str, int], names: Iterable[str], holds: object) -> bool:
    """Tell whether a condition holds whatever the unknown fields are; what is known alone is judged before."""
    choices = [(known[name],) if name in known else _numbers(layout.by_name[name]) for name in names]
    count = 1
    for each in choices:
        count *= len(each)
    if count == 1 or count > _MOST_NUMBERS:
        return count == 1
    return all(holds(*numbers) for numbers in product(*choices))  # type: ignore[operator]


def _numbers(field: BitField) -> tuple[int, ...]:
    return tuple(field.decode(number << field.shift) for number in range(1 << field.length))


__all__ = ["descriptor_field_verdict", "host_descriptor"]
