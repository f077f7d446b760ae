"""What is surely wrong with the tensor maps that a kernel makes or changes.

Property: a `Flaw` holds in every run that gets to its point, for all values of what the kernel does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...ir import Operand, Register
from ...opcodes.op import Op
from ..constraints import Layer, applicable
from ..facts import element_bits
from ..fields import Kind
from ..folding import Fold
from ..legality import indices, map_scope
from ..ranges import Symbol, truth
from ..symbolic import Legality
from ..tensor_map import TiledMap
from .contents import BASE, Base, Contents
from .events import (
    Acquire,
    CopyOut,
    Fill,
    Replace,
    Use,
    Write,
    readings,
)
from .field import BYTE_STRIDES_SINCE, Field, Slot
from .flow import DeviceMaps
from .made import (
    MAX_RANK,
    MadeMap,
    NotSet,
    driver_numbered,
    platform_of,
)
from .order import (
    Certainty,
    Gap,
    GapKind,
    escapes,
    gaps,
)
from .unknown import symbol_of

if TYPE_CHECKING:
    from ...view import KernelView


class FlawKind(Enum):
    """What is wrong."""

    FIELD = "field"
    """One field, whatever the others are."""
    TOGETHER = "together"
    """Fields that each are fine."""
    STRIDE_UNIT = "stride unit"
    TYPE_NUMBER = "type number"
    """An element type by its number in cuda.h."""
    NOT_SET = "not set"
    RANK = "rank"
    THROWN_AWAY = "thrown away"
    """Replaced in shared memory, and never copied from there."""
    SHARED = "shared"
    """A map in shared memory."""
    UNACQUIRED = "unacquired"
    """Changed by another thread."""
    OTHER_ACQUIRED = "other acquired"
    """Fences acquire other maps than the one that is used."""
    UNMET = "unmet"
    """Made by one thread, and copied by others that did not meet it."""
    REUSED = "reused"
    """Changed while a load reads it."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something wrong at a point, and other points that it is about."""

    kind: FlawKind
    point: int
    text: str
    related: tuple[tuple[int, str], ...] = ()


_ALONE: Mapping[Field, tuple[str, ...]] = {
    Field.ADDRESS: ("address-aligned", "address-range"),
    Field.BOX: ("box-range",),
    Field.DIM: ("dim-range",),
    Field.STRIDE: ("stride-aligned", "stride-range"),
    Field.STEP: ("element-stride-range",),
}
"""Constraints that one field can break alone: with the other fields as below, each is at its loosest."""
_LOOSEST = TiledMap(
    data_type=0, global_dim=(16,) * 5, global_strides=(16,) * 4, box_dim=(16,) * 5, element_strides=(1,) * 5
)
_NAMES: Mapping[Field, str] = {
    Field.ADDRESS: "address", Field.BOX: "box", Field.DIM: "dim", Field.STRIDE: "stride",
    Field.STEP: "element_stride",
}  # fmt: skip


def device_flaws(view: KernelView) -> tuple[Flaw, ...]:
    """Return what is surely wrong with the maps of one kernel, in the order of the points."""
    maps = view.get(DeviceMaps)
    found = list(_all(maps)) if maps.events else list(_in_shared(maps))
    return tuple(sorted(dict.fromkeys(found), key=lambda flaw: (flaw.point, flaw.kind.value, flaw.text)))


def _all(maps: DeviceMaps) -> Iterator[Flaw]:
    found = [(use, maps.at(use)) for use in maps.uses]
    yield from _fields(maps, found)
    yield from _in_shared(maps)
    yield from _thrown_away(maps)
    seen: set[tuple[Contents, int]] = set()
    for use, contents in found:
        if contents is not None and (contents, use.coordinates) not in seen:
            seen.add((contents, use.coordinates))
            yield from _of_contents(maps, use, contents)
    yield from _of_order(maps)


# ---- single fields


def _fields(maps: DeviceMaps, found: list[tuple[Use, Contents | None]]) -> Iterator[Flaw]:
    for event in maps.replacements:
        if event.slot.field is Field.STRIDE and event.slot.index >= MAX_RANK - 1:
            text = f"{event.slot}: a map has {MAX_RANK - 1} strides at most, 0 to {MAX_RANK - 2}"
            yield Flaw(FlawKind.FIELD, event.point, text)
        elif event.slot.field is Field.RANK:
            yield from _rank(maps.view, event)
        elif event.slot.field in _ALONE and _counts(event, found):
            yield from _alone(maps.view, event)


def _rank(view: KernelView, event: Replace) -> Iterator[Flaw]:
    low, high = view.facts.range(event.point, _value(view, event.point))
    if low >= MAX_RANK:
        text = f"rank is the number of dimensions less one, 0 to {MAX_RANK - 1}, and this is "
        yield Flaw(FlawKind.FIELD, event.point, text + (str(low) if low == high else f"{low} or more"))


def _counts(event: Replace, found: list[tuple[Use, Contents | None]]) -> bool:
    """Tell whether a dimension is surely one that the map has: the first, or one that a copy gives."""
    if event.slot.index == 0:
        return True
    below = 1 if event.slot.field is Field.STRIDE else 0
    return any(
        contents is not None
        and event.point in contents.sources(event.slot)
        and event.slot.index < use.coordinates - below
        for use, contents in found
    )


def _alone(view: KernelView, event: Replace) -> Iterator[Flaw]:
    field, index = event.slot.field, event.slot.index
    unit = 16 if field is Field.STRIDE and view.module.version < BYTE_STRIDES_SINCE else 1
    symbol = symbol_of(view, event.point, _value(view, event.point), unit)
    key = _NAMES[field] if field is Field.ADDRESS else f"{_NAMES[field]}[{index}]"
    symbols = {key: _with_residue(view, event, symbol, unit)}
    scope = map_scope(_LOOSEST)
    for constraint in applicable(Kind.TILED, platform_of(view), Layer.DRIVER):
        if constraint.id not in _ALONE[field]:
            continue
        for i in indices(constraint, MAX_RANK):
            if i not in (None, index):
                continue
            fold = Fold(scope, symbols, i)
            if truth(fold.fold(constraint.expression), symbols) is False or _misses(
                view, event, constraint.id, unit
            ):
                yield Flaw(FlawKind.FIELD, event.point, f"{event.slot}: {constraint.text}{_shown(symbol)}")
                return


def _with_residue(view: KernelView, event: Replace, symbol: Symbol, unit: int) -> Symbol:
    """Return a constant as a symbol of one value."""
    number = view.facts.value(event.point, _value(view, event.point)).constant
    return symbol if number is None else Symbol(symbol.name, unit * number, unit * number)


def _misses(view: KernelView, event: Replace, constraint: str, unit: int) -> bool:
    """Tell whether an address or stride is surely no multiple of 16, though not a constant."""
    if not constraint.endswith("-aligned") or unit % 16 == 0:
        return False
    return view.facts.is_multiple(event.point, _value(view, event.point), 16) is False


def _shown(symbol: Symbol) -> str:
    return f" ({symbol.low})" if symbol.low == symbol.high else ""


# ---- whole maps


def _of_contents(maps: DeviceMaps, use: Use, contents: Contents) -> Iterator[Flaw]:
    if Base.UNSET in contents.bases and not _is_unset(maps, use, contents):
        return
    made = maps.made_of(contents)
    rank = _dimensions(maps.view, contents)
    if rank is not None and rank[1] == use.coordinates + 1:
        yield _one_too_many(use, *rank)
        return
    if made and all(isinstance(one, NotSet) for one in made):
        missing = made[0]
        assert isinstance(missing, NotSet)
        names = ", ".join(map(str, missing.slots))
        was = "zeros" if contents.bases == {Base.ZERO} else "what the memory held before"
        yield Flaw(
            FlawKind.NOT_SET, use.point, f"{names} of the map: nothing sets it, it is {was}", _last(contents)
        )
        return
    if len(made) != 1 or not isinstance(made[0], MadeMap):
        return
    yield from _of_map(maps, use, made[0])


def _is_unset(maps: DeviceMaps, use: Use, contents: Contents) -> bool:
    """Tell whether nothing at all but replacements writes the map in shared memory."""
    if contents.bases != {Base.UNSET}:
        return False
    return not any(not isinstance(event, Replace) and hasattr(event, "key") for event in _stores(maps))


def _stores(maps: DeviceMaps) -> Iterator[object]:
    from .events import Fill, Write

    yield from (event for event in maps.events if isinstance(event, Fill | Write))


def _last(contents: Contents) -> tuple[tuple[int, str], ...]:
    points = sorted(point for point, _ in contents.steps if point >= 0)
    return tuple((point, "the map as it is copied out") for point in points[:1])


def _of_map(maps: DeviceMaps, use: Use, made: MadeMap) -> Iterator[Flaw]:
    view = maps.view
    if made.tensor_map.rank != use.coordinates:
        return
    unit = _of_unit(view, made)
    if unit is not None:
        yield unit
        return
    answer = maps.legality(made)
    if answer.legality is not Legality.NEVER:
        return
    at_use = ((use.point, "used here"),)
    other = driver_numbered(view, made)
    point = made.points[Slot(Field.TYPE.value)]
    if other is not None and other.decide(platform_of(view)).legality is not Legality.NEVER:
        text = (
            f"element type {other.tensor_map.data_type} is {_named(made)} in PTX, with which the map is not legal; "
            f"in cuda.h it is {_named(other)}"
        )
        yield Flaw(FlawKind.TYPE_NUMBER, point, text, at_use)
        return
    for clause in answer.clauses[:1]:
        field = next((f for f, ids in _ALONE.items() if clause.constraint.id in ids), None)
        if field is None or len(answer.clauses) > 1:
            text = "; ".join(one.constraint.text for one in answer.clauses)
            yield Flaw(FlawKind.TOGETHER, made.blamed(clause), text, at_use)


def _named(made: MadeMap) -> str:
    return made.tensor_map.data_type.name if hasattr(made.tensor_map.data_type, "name") else ""


def _dimensions(view: KernelView, contents: Contents) -> tuple[int, int] | None:
    """Return the point that sets the rank, and how many dimensions it means, where that is one number."""
    sources = contents.sources(Slot(Field.RANK.value))
    if len(sources) != 1 or BASE in sources:
        return None
    point = next(iter(sources))
    rank = view.facts.constant(point, _value(view, point))
    return None if rank is None else (point, rank + 1)


def _one_too_many(use: Use, point: int, rank: int) -> Flaw:
    text = f"rank is the number of dimensions less one: {rank - 1} means {rank} dimensions, the copy gives {rank - 1}"
    return Flaw(FlawKind.RANK, point, text, ((use.point, "used here"),))


# ---- unit of strides


def _of_unit(view: KernelView, made: MadeMap) -> Flaw | None:
    """Return a first stride that is the length of a row in the unit of the other versions of PTX."""
    slot = Slot(Field.STRIDE.value)
    point = made.points.get(slot, BASE)
    if point == BASE or made.tensor_map.rank < 2:
        return None
    bits = element_bits(made.tensor_map.data_type)
    in_bytes = view.module.version >= BYTE_STRIDES_SINCE
    raw = view.facts.value(point, _value(view, point)).constant
    row = made.tensor_map.global_dim[0] * bits // 8
    if raw is not None and "dim[0]" not in made.symbols and row >= 16:
        wrong = raw * 16 == row if in_bytes else raw == row
    else:
        wrong = in_bytes and _is_shifted_row(view, made, point, bits // 8)
    if not wrong:
        return None
    version = view.module.version
    text = (
        f"global_stride is in bytes since PTX 8.5, and this is a row divided by 16 (PTX {version})"
        if in_bytes
        else f"global_stride is in units of 16 bytes before PTX 8.5, and this is a row in bytes (PTX {version})"
    )
    return Flaw(FlawKind.STRIDE_UNIT, point, text)


def _is_shifted_row(view: KernelView, made: MadeMap, point: int, size: int) -> bool:
    """Tell whether a stride is the bytes of a row of unknown length, shifted by 4."""
    operand = _value(view, point)
    length = made.symbols.get("dim[0]")
    if length is None or not isinstance(operand, Register) or not length.name.isidentifier():
        return False
    sources = view.facts.definitions(point, operand)
    if len(sources) != 1:
        return False
    shift = view.cfg.instructions[sources[0]]
    if shift.operation.op is not Op.SHR or shift.guard is not None:
        return False
    if view.facts.constant(sources[0], shift.operands[2]) != 4:
        return False
    row = symbol_of(view, sources[0], shift.operands[1], 1)
    return row.name == f"{size} * {length.name}" if size > 1 else row.name == length.name


# ---- places and order


def _in_shared(maps: DeviceMaps) -> Iterator[Flaw]:
    for use in maps.uses:
        if use.key is not None and use.key.is_shared:
            text = (
                "the tensor map is in shared memory; copies read maps in global, constant or parameter memory"
            )
            yield Flaw(FlawKind.SHARED, use.point, text)


def _thrown_away(maps: DeviceMaps) -> Iterator[Flaw]:
    """Yield replacements in shared memory from which no path leads to a copy of the map, but over new zeros."""
    view = maps.view
    if maps.has_lost:
        return
    last = {
        (view.cfg.graph.block_of[e.point], e.key): e for e in maps.replacements if e.key and e.key.is_shared
    }
    for event in last.values():
        ends = [(e.point, isinstance(e, CopyOut)) for e in maps.events if _ends(e, event)]
        reached = {
            is_copy
            for point, is_copy in ends
            if not _is_cut_off(view, event.point, point, frozenset(p for p, _ in ends) - {point})
        }
        is_used = any(use.key == event.key for use in maps.uses)
        over = frozenset(e.point for e in maps.events if isinstance(e, Fill | Write) and e.key == event.key)
        is_read = any(
            not _is_cut_off(view, event.point, point, over - {point}) for point in readings(view, event.key)
        )
        if True not in reached and not is_used and not is_read:
            text = "this map in shared memory is never copied to global memory after its fields are replaced"
            yield Flaw(FlawKind.THROWN_AWAY, event.point, text)


def _ends(event: object, change: Replace) -> bool:
    """Tell whether an event copies the map that was changed, or starts a new one in its place."""
    if isinstance(event, CopyOut):
        return event.source == change.key
    return isinstance(event, Fill) and event.key == change.key


def _is_cut_off(view: KernelView, start: int, goal: int, barred: frozenset[int]) -> bool:
    """Tell whether no path leads from one point to another without passing a barred one."""
    if not view.cfg.reaches(start, goal):
        return True
    return not escapes(view, None, start, goal, [barred]) if barred else False


def _of_order(maps: DeviceMaps) -> Iterator[Flaw]:
    told: set[int] = set()
    for gap in sorted(gaps(maps), key=lambda each: each.point):
        if gap.certainty is not Certainty.WRONG:
            continue
        if gap.kind is GapKind.REUSE and gap.other not in told:
            told.add(gap.other)
            related = ((gap.other, "the copy that reads it"),)
            yield Flaw(FlawKind.REUSED, gap.point, gap.text, related)
        elif gap.kind is GapKind.MAKING and gap.point not in told:
            told.add(gap.point)
            yield Flaw(FlawKind.UNMET, gap.point, gap.text, ((gap.other, "an earlier step"),))
        elif gap.kind is GapKind.USE and _by_others(maps.view, gap):
            yield Flaw(FlawKind.UNACQUIRED, gap.point, gap.text, ((gap.other, "the change"),))
        elif gap.kind is GapKind.USE and (others := _acquired_instead(maps, gap)):
            text = "the fences on the way acquire other maps, not this one"
            also = ((gap.other, "the change"), (others[0], "acquires another map"))
            yield Flaw(FlawKind.OTHER_ACQUIRED, gap.point, text, also)


def _acquired_instead(maps: DeviceMaps, gap: Gap) -> tuple[int, ...]:
    """Return the fences that acquire maps beside the one that is used; none unless all surely are of others."""
    used = next((use.key for use in maps.uses if use.point == gap.point), None)
    fences = [event for event in maps.events if isinstance(event, Acquire)]
    if used is None or any(each.key is None or each.key.base != used.base for each in fences):
        return ()
    reaches = maps.view.cfg.reaches
    between = [each for each in fences if reaches(gap.other, each.point) and reaches(each.point, gap.point)]
    return tuple(each.point for each in between if each.key != used)


def _by_others(view: KernelView, gap: Gap) -> bool:
    """Tell whether no thread both makes the change and uses the map."""
    makers, users = view.facts.execution(gap.other).threads, view.facts.execution(gap.point).threads
    return makers is not None and users is not None and not makers.bits & users.bits


def _value(view: KernelView, point: int) -> Operand | None:
    return view.cfg.instructions[point].get("value")
