"""Words that one CTA tells all of its cluster: each lane of an `st.async` writes one place in the CTA of its number.

Property: a word in `Broadcasts.words` is one number in all CTAs of the cluster, turn by turn.

Argument: every lane that stores it stores a number that is uniform in the warp, at one constant offset in the CTA of
its number, and no ordinary store is known to write there.

Not covered: lanes for some CTAs alone: a run in which only these store is not followed.

Tile schedulers do so: lane n hands the next tile to CTA n. A word that is one number in all lanes is the same in all
CTAs then, turn by turn; others, as the place of the tile for each CTA, are not. Where anything else is known to
write the word, or stores of that kind are not followed, nothing is said. A run in which such a store is made by lanes
for some CTAs alone is not followed: the others may be told something else, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ....cfg.addresses import Pointer
from ....cfg.cfg import Cfg
from ....cfg.facts import Facts
from ....cfg.optypes import typing_of
from ....cfg.special import special_name
from ....cfg.uniform import Uniformity
from ....ir import (
    Address,
    Component,
    Instruction,
    Operand,
    Register,
    Vector,
)
from ....opcodes.op import Op
from .overlapping_places import meet

_FIELDS = "xyzw"


@dataclass(frozen=True, slots=True)
class Broadcasts:
    """Stores to all CTAs, and which elements of loads of shared memory are the same in all of them."""

    stores: frozenset[int] = frozenset()
    words: Mapping[int, frozenset[int]] = field(default_factory=dict)


def broadcasts(
    cfg: Cfg, facts: Facts, loads: Mapping[int, Pointer], writes: Mapping[int, Pointer | None]
) -> Broadcasts:
    """Return what is told all CTAs; `loads` and `writes` are ordinary accesses of shared memory, with their places.

    Places of writes may not be known; those into other CTAs may be anywhere then.
    """
    far = {point for point in writes if _is_far(cfg.instructions[point])}
    reached = {None if place is None else place.symbol for point, place in writes.items() if point in far}
    if None in reached:
        return Broadcasts()
    tellers = [
        point
        for point, instruction in enumerate(cfg.instructions)
        if instruction.operation.op in (Op.ST_ASYNC, Op.RED_ASYNC) and cfg.connected(point)
    ]
    told: dict[tuple[object, int], bool] = {}
    """Words of variables, and are they one number in all lanes."""
    for point in tellers:
        place = _place(cfg, facts, point)
        if place is None or place.base is None or place.offset.constant is None:
            return Broadcasts()
        for base, offset, is_one in _words(cfg, facts, point, place):
            told[base, offset] = told.get((base, offset), True) and is_one
    found: dict[int, frozenset[int]] = {}
    for point, pointer in loads.items() if told else ():
        if pointer.symbol in reached or any(each and meet(each, pointer) for each in writes.values()):
            continue
        start, size = pointer.offset.constant, typing_of(cfg.instructions[point].operation).width // 8
        if start is not None and size == _WORD:
            same = (n for n in range(len(_FIELDS)) if told.get((pointer.base, start + n * size)))
            found[point] = frozenset(same)
    return Broadcasts(frozenset(tellers), found)


_WORD = 4


def uniform_words(cfg: Cfg, facts: Facts) -> Mapping[int, tuple[bool, ...]]:
    """Return for each `st.async` of words which of them are one number in all lanes that make it in one round."""
    return {
        point: tuple(
            value is not None and facts.is_warp_wide(at, value)
            for at, value in _values(cfg, point, instruction)
        )
        for point, instruction in enumerate(cfg.instructions)
        if instruction.operation.op is Op.ST_ASYNC
        and cfg.connected(point)
        and typing_of(instruction.operation).width == _WORD * 8
    }


def _is_far(instruction: Instruction) -> bool:
    return instruction.operation.slots.get("space", "").endswith("::cluster")


def _place(cfg: Cfg, facts: Facts, point: int) -> Pointer | None:
    """Return where a store writes in the CTA whose number is that of the lane, None when it may write elsewhere."""
    instruction = cfg.instructions[point]
    target = instruction.operands[0]
    if instruction.operation.op is not Op.ST_ASYNC or not isinstance(target, Address) or target.offset:
        return None
    mapped = _defined(cfg, facts, point, target.base, Op.MAPA)
    if mapped is None:
        return None
    _, source, rank = cfg.instructions[mapped].operands
    lane = _defined(cfg, facts, mapped, rank, Op.MOV)
    if lane is None:
        return None
    read = cfg.instructions[lane].operands[1]
    if not isinstance(read, Register | Component) or special_name(read) != "%laneid":
        return None
    return facts.address(mapped, source, ".shared")


def _defined(cfg: Cfg, facts: Facts, point: int, operand: Operand | None, op: Op) -> int | None:
    """Return the one instruction that an operand is the result of, if it is of one kind."""
    behind = facts.definitions(point, operand) if isinstance(operand, Register) else ()
    return behind[0] if len(behind) == 1 and cfg.instructions[behind[0]].operation.op is op else None


def _words(cfg: Cfg, facts: Facts, point: int, place: Pointer) -> Iterator[tuple[object, int, bool]]:
    """Yield the words that a store writes, and whether each is one number in all lanes."""
    start = place.offset.constant
    assert start is not None
    for number, (at, value) in enumerate(_values(cfg, point, cfg.instructions[point])):
        is_one = value is not None and facts.uniform(at, value) <= Uniformity.WARP
        yield place.base, start + number * _WORD, is_one


def _values(cfg: Cfg, point: int, instruction: Instruction) -> Iterator[tuple[int, Operand | None]]:
    """Yield what a store writes word by word, with the point at which it is read; None where that is not followed."""
    value = instruction.operands[1]
    width = typing_of(instruction.operation).width
    if width != _WORD * 8:
        elements = int(instruction.operation.slots.get("vec", "").removeprefix(".v") or 1)
        yield from [(point, None)] * (elements * width // (_WORD * 8))
        return
    if isinstance(value, Vector):
        yield from ((point, each) for each in value.elements)
        return
    vector = instruction.operation.slots.get("vec", "").removeprefix(".v")
    if not vector:
        yield point, value
        return
    for name in _FIELDS[: int(vector)]:
        yield _moved(cfg, point, Component(value, name)) if isinstance(value, Register) else (point, None)


def _moved(cfg: Cfg, point: int, part: Component) -> tuple[int, Operand | None]:
    """Return what was moved to an element of a vector register before, in the same block."""
    block = cfg.blocks[cfg.graph.block_of[point]]
    for at in reversed([each for each in block.points if each < point]):
        instruction = cfg.instructions[at]
        if instruction.operands and instruction.operands[0] == part and instruction.operation.op is Op.MOV:
            return (at, instruction.operands[1]) if instruction.guard is None else (at, None)
        if part.base in instruction.writes() and not isinstance(instruction.operands[0], Component):
            break
    return point, None
