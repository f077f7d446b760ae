"""What instructions do to tensor maps: replacements, fills, copies, fences, uses, and writes over them.

Property: every instruction that may write a tracked map or order a change of one has an event; a write whose
address is not followed has one without a key. Stores through pointers of which nothing is known are not taken to
hit a map (see `place.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...ir import (
    Address,
    Immediate,
    Instruction,
    Vector,
)
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...protocols.typestate.async_bytes import TENSOR
from ...protocols.typestate.places import Owner
from ...protocols.typestate.shared_access import SharedAccess, find_shared_accesses, thread_offsets
from .field import INDEXED, Field, Slot
from .place import MAP_BYTES, Key, key_of

if TYPE_CHECKING:
    from ...view import KernelView


@dataclass(frozen=True, slots=True)
class Replace:
    """`tensormap.replace` of one slot."""

    point: int
    key: Key | None
    slot: Slot
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Fill:
    """Stores that leave 128 zeros, the last of them."""

    point: int
    key: Key


@dataclass(frozen=True, slots=True)
class Write:
    """Any other write over a map."""

    point: int
    key: Key


@dataclass(frozen=True, slots=True)
class CopyOut:
    """`tensormap.cp_fenceproxy`: the map in shared memory goes to global memory, and is released."""

    point: int
    source: Key | None
    target: Key | None


@dataclass(frozen=True, slots=True)
class Release:
    """A fence that releases changes of the executing thread."""

    point: int


@dataclass(frozen=True, slots=True)
class Acquire:
    """A fence that acquires one map."""

    point: int
    key: Key | None


@dataclass(frozen=True, slots=True)
class Use:
    """A tensor copy or prefetch."""

    point: int
    key: Key | None
    coordinates: int
    """Rank that the instruction is written for."""


Event = Replace | Fill | Write | CopyOut | Release | Acquire


def find_events(view: KernelView) -> Iterator[Event]:
    """Yield the events of a kernel but its uses; those at one point in the order in which they count."""
    plain = list(_plain(view))
    yield from plain
    keys = {event.key for event in plain if isinstance(event, Replace) and event.key is not None}
    keys |= {event.source for event in plain if isinstance(event, CopyOut) and event.source is not None}
    yield from _writes(view, frozenset(keys))


def find_uses(view: KernelView) -> tuple[Use, ...]:
    """Return the copies and prefetches that read a tensor map."""
    return tuple(
        Use(point, key_of(view, point, address), int(instruction.operation.slots.get("dim", ".0d")[1:-1]))
        for point, instruction in enumerate(view.cfg.instructions)
        if isinstance(address := instruction.get("tensor_map"), Address) and not view.facts.never_runs(point)
    )


def _plain(view: KernelView) -> Iterator[Event]:
    for point, instruction in enumerate(view.cfg.instructions):
        operation = instruction.operation
        if view.facts.never_runs(point):
            continue
        match operation.op:
            case Op.TENSORMAP_REPLACE:
                yield _replacement(view, point, instruction)
            case Op.TENSORMAP_CP_FENCEPROXY:
                source = key_of(view, point, instruction.get("src"), Mod.SHARED_CTA)
                yield CopyOut(point, source, key_of(view, point, instruction.get("dst"), Mod.GLOBAL))
            case Op.FENCE_PROXY | Op.MEMBAR_PROXY if operation.has(Mod.TENSORMAP_GENERIC):
                if operation.has(Mod.ACQUIRE):
                    yield Acquire(point, key_of(view, point, instruction.get("addr")))
                else:
                    yield Release(point)


def _replacement(view: KernelView, point: int, instruction: Instruction) -> Replace:
    slots = instruction.operation.slots
    field = Field(slots["field"])
    index = view.facts.constant(point, instruction.get("ordinal")) if field in INDEXED else 0
    key = key_of(view, point, instruction.get("addr"), slots.get("space", ""))
    shared = slots.get("space", "").startswith(".shared") or (key is not None and key.is_shared)
    return Replace(point, key, Slot(field.value, index or 0), shared)


# ---- stores over the maps that are built in shared memory


def _writes(view: KernelView, keys: frozenset[Key]) -> Iterator[Event]:
    shared = [key for key in keys if key.is_shared]
    block_of = view.cfg.graph.block_of
    for key in sorted(shared, key=lambda each: (str(each.base), each.offset)):
        covered: set[int] = set()
        block = -1
        for access in view.get(find_shared_accesses):
            if not _may_hit(view, access, key):
                continue
            if block_of[access.point] != block:
                block, covered = block_of[access.point], set()
            zeros = _zeros(view, access, key)
            if zeros is None:
                covered.clear()
                yield Write(access.point, key)
                continue
            covered |= zeros
            if len(covered) == MAP_BYTES:
                covered.clear()
                yield Fill(access.point, key)
            else:
                yield Write(access.point, key)


def _may_hit(view: KernelView, access: SharedAccess, key: Key) -> bool:
    operation = view.cfg.instructions[access.point].operation
    if operation.op in (Op.TENSORMAP_REPLACE, Op.TENSORMAP_CP_FENCEPROXY):
        return False
    if access.operand == "src" or not operation.traits & {Trait.STORE, Trait.ATOMIC, Trait.ASYNC}:
        return False
    place = access.place
    if place is None:
        return access.space.startswith(".shared")
    if place.symbol != key.base or place.owner in (Owner.PEER, Owner.FIXED):
        return False
    low, high = place.span
    # how far a tensor copy writes is not in the kernel
    end = None if operation.op in TENSOR else high + access.size
    return low < key.offset + MAP_BYTES and (end is None or end > key.offset)


def readings(view: KernelView, key: Key | None) -> Iterator[int]:
    """Yield the points of loads and bulk copies that may read a map in shared memory."""
    for access in view.get(find_shared_accesses):
        operation = view.cfg.instructions[access.point].operation
        reads = Trait.LOAD in operation.traits or (
            Trait.ASYNC in operation.traits and access.operand == "src"
        )
        if not reads or operation.op is Op.TENSORMAP_CP_FENCEPROXY:
            continue
        place = access.place
        if place is None or key is None:
            yield access.point
            continue
        low, high = place.span
        if place.symbol == key.base and low < key.offset + MAP_BYTES and high + access.size > key.offset:
            yield access.point


def _zeros(view: KernelView, access: SharedAccess, key: Key) -> set[int] | None:
    """Return the bytes of the map that a store of zeros covers; None for any other write."""
    instruction = view.cfg.instructions[access.point]
    if instruction.operation.op is not Op.ST or not _stores_zero(view, access.point, instruction):
        return None
    known = thread_offsets(view, access)
    if known is None:
        return None
    first = np.asarray(known.offsets) - key.offset
    return {
        int(at) + i for at in first for i in range(access.size) if 0 <= int(at) + i < MAP_BYTES
    }  # fmt: skip


def _stores_zero(view: KernelView, point: int, instruction: Instruction) -> bool:
    stored = instruction.get("b")
    parts = stored.elements if isinstance(stored, Vector) else (stored,)
    return all(
        (part.value if isinstance(part, Immediate) else view.facts.constant(point, part)) == 0
        for part in parts
    )
