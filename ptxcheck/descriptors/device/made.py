"""Tensor maps as a kernel makes them: the legality of each, and what its fields are where they are known.

The constraints are those of the host's encode, on the same data: what the driver refuses is what the hardware
cannot use. Symbols stand for the numbers that the kernel gets from outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from ...cfg.addresses import GENERIC_END
from ..constraints import Platform
from ..fields import DataType
from ..ranges import Symbol
from ..symbolic import (
    Clause,
    Legality,
    Verdict,
    decide,
)
from ..tensor_map import TiledMap
from .contents import BASE, Base, Contents
from .field import (
    ELEMENT_TYPES,
    INDEXED,
    MODES,
    SWIZZLES,
    Field,
    Slot,
    required,
    stride_unit,
)
from .unknown import comes_from_host, given_number, symbol_of

if TYPE_CHECKING:
    from ...view import KernelView

MAX_VARIANTS = 32
MAX_RANK = 5
_KEYS: Mapping[Field, str] = {
    Field.ADDRESS: "address",
    Field.BOX: "box",
    Field.DIM: "dim",
    Field.STRIDE: "stride",
    Field.STEP: "element_stride",
}
"""Names of the constraint language for fields that may be symbols."""
_WORDS = re.compile(r"[A-Za-z_]\w*")
_ARGUMENTS: Mapping[str, Field] = {
    "tensorRank": Field.RANK,
    "globalAddress": Field.ADDRESS,
    "globalDim": Field.DIM,
    "globalStrides": Field.STRIDE,
    "boxDim": Field.BOX,
    "elementStrides": Field.STEP,
    "tensorDataType": Field.TYPE,
    "interleave": Field.INTERLEAVE,
    "swizzle": Field.SWIZZLE,
    "oobFill": Field.FILL,
}
"""Arguments of cuTensorMapEncodeTiled, as constraints name them."""


@dataclass(frozen=True, slots=True)
class MadeMap:
    """One map that a kernel makes: known fields as numbers, others as symbols."""

    tensor_map: TiledMap
    symbols: Mapping[str, Symbol]
    points: Mapping[Slot, int]
    """The instruction that replaced each slot; `BASE` for zeros."""
    open_slots: tuple[Slot, ...]
    """Slots that are symbols."""

    def blamed(self, clause: Clause) -> int:
        """Return the replacement that a clause is about: of its argument of the host's encode, else of the type."""
        field = _ARGUMENTS.get(clause.constraint.field, Field.TYPE)
        index = clause.index if clause.index is not None and field in INDEXED else 0
        point = self.points.get(Slot(field.value, index), BASE)
        return point if point != BASE else self.points[Slot(Field.TYPE.value)]

    def decide(self, platform: Platform) -> Verdict:
        """Return whether the map is legal."""
        return decide(self.tensor_map, self.symbols, platform)


@dataclass(frozen=True, slots=True)
class NotSet:
    """A map of zeros with fields that nothing replaced."""

    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class NotKnown:
    """Why a map could not be put together."""

    reason: str
    depends_on_host: bool = False
    """True where the host's map decides, not the kernel."""


Made = MadeMap | NotSet | NotKnown


def platform_of(view: KernelView) -> Platform:
    """Return the capability that the module is for; the newest rules of the driver stand for the hardware's."""
    target = view.module.target
    number = 90 if target is None else target.arch
    return Platform((number // 10, number % 10))


def made_maps(view: KernelView, contents: Contents) -> Iterator[Made]:
    """Yield the maps that contents stand for; where several replacements may have written a slot, each choice."""
    if Base.LOST in contents.bases:
        yield NotKnown("what the map is made of was not followed")
        return
    if Base.UNSET in contents.bases:
        open_modes = [field for field in MODES if BASE in contents.sources(Slot(field.value))]
        if contents.bases == {Base.UNSET} and open_modes:
            yield NotSet(tuple(Slot(field.value) for field in open_modes))
            return
        if contents.bases != {Base.UNSET}:
            yield NotKnown("the map is made in shared memory that is not written on some paths")
            return
    if Base.GIVEN in contents.bases:
        yield NotKnown("the map is a changed copy of one that the host made", depends_on_host=True)
        return
    ranks = contents.sources(Slot(Field.RANK.value))
    choices = prod(len(sources) for _, sources in contents.slots)
    if choices > MAX_VARIANTS:
        yield NotKnown(f"{choices} combinations of fields are possible")
        return
    if BASE in ranks:
        yield (
            NotSet((Slot(Field.RANK.value),))
            if ranks == {BASE}
            else NotKnown("the rank is set on some paths only")
        )
        return
    slots = [slot for slot, _ in contents.slots]
    for points in product(*(sorted(sources) for _, sources in contents.slots)):
        yield _Builder(view, dict(zip(slots, points, strict=True))).build(
            is_sure=all(len(sources) == 1 for _, sources in contents.slots)
        )


class _Builder:
    def __init__(self, view: KernelView, points: Mapping[Slot, int]) -> None:
        self._view = view
        self._points = points
        self._symbols: dict[str, Symbol] = {}
        self._open: list[Slot] = []
        self._unit = stride_unit(view.module.version)

    def build(self, *, is_sure: bool) -> Made:
        rank = self._constant(Field.RANK)
        if rank is None:
            return NotKnown("the rank is not a constant")
        if not 0 <= rank < MAX_RANK:
            return NotKnown(f"the rank is {rank}, which stands for {rank + 1} dimensions")
        missing = tuple(slot for slot in required(rank + 1) if self._points.get(slot, BASE) == BASE)
        if missing:
            return NotSet(missing) if is_sure else NotKnown(f"{missing[0]} is set on some paths only")
        return self._map(rank + 1)

    def _map(self, rank: int) -> Made:
        number = self._constant(Field.TYPE)
        mode, atomicity = self._constant(Field.SWIZZLE, 0), self._constant(Field.ATOMICITY, 0)
        interleave, fill = self._constant(Field.INTERLEAVE, 0), self._constant(Field.FILL, 0)
        if number is None or mode is None or atomicity is None or interleave is None or fill is None:
            return NotKnown("a mode of the map is not a constant")
        if not 0 <= number < len(ELEMENT_TYPES) or (mode, atomicity) not in SWIZZLES:
            return NotKnown(
                f"element type {number} with swizzle {mode}, atomicity {atomicity} is not modelled"
            )
        tensor_map = TiledMap(
            data_type=ELEMENT_TYPES[number],
            global_dim=self._entries(Field.DIM, rank),
            global_strides=self._entries(Field.STRIDE, rank - 1),
            box_dim=self._entries(Field.BOX, rank),
            element_strides=self._entries(Field.STEP, rank),
            interleave=interleave,
            swizzle=SWIZZLES[mode, atomicity],
            oob_fill=fill,
            global_address=self._number(Slot(Field.ADDRESS.value)),
        )
        return MadeMap(tensor_map, self._symbols, self._points, tuple(self._open))

    def _constant(self, field: Field, default: int | None = None) -> int | None:
        point = self._points.get(Slot(field.value), BASE)
        if point == BASE:
            return default
        return self._view.facts.constant(point, self._view.cfg.instructions[point].get("value"))

    def _entries(self, field: Field, count: int) -> tuple[int, ...]:
        return tuple(self._number(Slot(field.value, i)) for i in range(count))

    def _number(self, slot: Slot) -> int:
        """Return a slot's number in the driver's unit, or a stand-in where a symbol takes its place."""
        point = self._points[slot]
        operand = self._view.cfg.instructions[point].get("value")
        unit = self._unit if slot.field is Field.STRIDE else 1
        value = self._view.facts.value(point, operand)
        if value.constant is not None:
            return unit * value.constant
        symbol = symbol_of(self._view, point, operand, unit)
        given = given_number(self._view, symbol.name)
        if given is not None:
            return given
        if slot.field is Field.ADDRESS:
            symbol = replace(symbol, high=min(symbol.high, GENERIC_END - 1))
        name = _KEYS[slot.field]
        key = name if slot.field is Field.ADDRESS else f"{name}[{slot.index}]"
        self._symbols[key] = symbol
        self._open.append(slot)
        return symbol.first


def is_conditional_on_host(view: KernelView, made: MadeMap, clause: Clause) -> bool:
    """Tell whether every number in a clause that the kernel does not know comes from the host."""
    return all(
        comes_from_host(view, made.points[slot], view.cfg.instructions[made.points[slot]].get("value"))
        for slot, key in zip(made.open_slots, made.symbols, strict=True)
        if _speaks_of(clause, made.symbols[key])
    )


def _speaks_of(clause: Clause, symbol: Symbol) -> bool:
    """Tell whether a symbol stands in a clause: its words do."""
    return set(_WORDS.findall(symbol.name)) <= set(_WORDS.findall(clause.python))


def driver_numbered(view: KernelView, made: MadeMap) -> MadeMap | None:
    """Return the map with its element type read as a number of cuda.h; None where that is the same type."""
    point = made.points.get(Slot(Field.TYPE.value), BASE)
    if point == BASE:
        return None
    number = view.facts.constant(point, view.cfg.instructions[point].get("value"))
    if number is None or number >= len(ELEMENT_TYPES) or ELEMENT_TYPES[number] == number:
        return None
    old = made.tensor_map
    fields = {name: getattr(old, name) for name in TiledMap.__dataclass_fields__ if name != "kind"}
    return MadeMap(
        TiledMap(**{**fields, "data_type": DataType(number)}), made.symbols, made.points, made.open_slots
    )


__all__ = [
    "Legality", "Made", "MadeMap", "NotKnown", "NotSet", "driver_numbered", "is_conditional_on_host", "made_maps",
    "platform_of",
]  # fmt: skip
