"""Loads, stores and atomics of shared memory, and asynchronous copies: which bytes, for which threads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...cfg import AtomKind, Value
from ...ir import (
    TYPE_BYTES,
    Address,
    Immediate,
    Instruction,
)
from ...opcodes.op import Op
from ...opcodes.spec import OperandKind, Trait
from .places import Owner, Place, Places

if TYPE_CHECKING:
    from ...view import KernelView

_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.ASYNC})
_BULK = frozenset({Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR, Op.CP_REDUCE_ASYNC_BULK})
_MATRIX = frozenset({Op.LDMATRIX, Op.STMATRIX})
_NUMBER = re.compile(r"\d+")
_ROWS = {".m8n8": 8, ".m8n16": 8, ".m16n8": 8, ".m16n16": 16}
"""Addresses for one matrix; those of `.m16n8` are of its columns."""
WARP = 32
ROW_BYTES = 16
TENSOR_BYTES = 16
"""Least bytes that a tensor copy writes."""


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One access. `size` is in bytes; for a matrix access it is one row, for a tensor copy the least."""

    point: int
    operand: str
    space: str
    """State space as the instruction spells it."""
    size: int
    value: Value
    """The address as a number."""
    place: Place | None
    is_async: bool = False
    lanes: int = WARP
    """Lanes of a warp whose addresses are used; fewer for small matrix accesses."""
    is_matrix: bool = False

    def covers(self, place: Place) -> bool:
        """Tell whether the access surely touches the 8 bytes at a place, in the executing CTA."""
        mine = self.place
        if mine is None or mine.owner is not Owner.OWN or mine.symbol != place.symbol:
            return False
        if self.is_matrix or mine.at is None or place.at is None:
            return False
        return mine.at < place.at + 8 and place.at < mine.at + self.size


def find_shared_accesses(view: KernelView) -> tuple[SharedAccess, ...]:
    """Return the accesses of a kernel that may be of shared memory; what never runs is left out."""
    found: list[SharedAccess] = []
    for point, instruction in enumerate(view.body.instructions):
        traits = instruction.operation.traits
        if not traits & _ACCESSING or view.facts.never_runs(point):
            continue
        named = _copied(view, point, instruction) if Trait.ASYNC in traits else _accessed(instruction)
        for operand, space, size in named:
            address = instruction[operand]
            found.append(
                SharedAccess(
                    point,
                    operand,
                    space,
                    size,
                    view.facts.value(point, address),
                    view.get(Places).of(point, address, space),
                    is_async=Trait.ASYNC in traits,
                    lanes=address_lanes(instruction),
                    is_matrix=instruction.operation.op in _MATRIX,
                )
            )
    return tuple(found)


def address_lanes(instruction: Instruction) -> int:
    """Return how many lanes give an address: one a row for matrix accesses."""
    slots = instruction.operation.slots
    length = _NUMBER.search(slots.get("num", ""))
    rows = _ROWS.get(slots.get("shape", ""), WARP) if instruction.operation.op in _MATRIX else WARP
    return min(rows * (int(length[0]) if length else 1), WARP)


def _accessed(instruction: Instruction) -> Iterator[tuple[str, str, int]]:
    """Yield the address operand of a load, store or atomic, its space and the bytes accessed."""
    slots = instruction.operation.slots
    space = slots.get("space", "")
    if not space.startswith(".shared") and space:
        return
    size = ROW_BYTES if instruction.operation.op in _MATRIX else access_bytes(instruction)
    for spec in instruction.operation.operand_specs:
        if spec.kind is OperandKind.ADDRESS and size and isinstance(instruction.get(spec.name), Address):
            yield spec.name, space, size
            return


def access_bytes(instruction: Instruction) -> int:
    """Return the bytes of one load, store or atomic; 0 when the type or the size is not known."""
    if instruction.operation.op is Op.ST_BULK:
        size = instruction.get("size")
        return size.value if isinstance(size, Immediate) else 0
    slots = instruction.operation.slots
    length = _NUMBER.search(slots.get("vec", ""))
    return TYPE_BYTES.get(slots.get("type", ""), 0) * (int(length[0]) if length else 1)


def _copied(view: KernelView, point: int, instruction: Instruction) -> Iterator[tuple[str, str, int]]:
    """Yield the shared operands of an asynchronous copy, with their spaces and the bytes of each."""
    operation = instruction.operation
    if operation.op is Op.CP_ASYNC:
        size = view.facts.constant(point, instruction.get("size"))
        if size and isinstance(instruction.get("dst"), Address):
            yield "dst", ".shared", size
    elif operation.op in _BULK:
        size = view.facts.constant(point, instruction.get("size"))
        least = TENSOR_BYTES if operation.op is Op.CP_ASYNC_BULK_TENSOR else size or 0
        for operand in ("dst", "src"):
            space = operation.slots.get(f"{operand}_space", "")
            if space.startswith(".shared") and least and isinstance(instruction.get(operand), Address):
                yield operand, space, least


@dataclass(frozen=True, slots=True)
class ThreadOffsets:
    """Offset of an access from its variable, for each thread that executes it."""

    threads: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]


def thread_offsets(view: KernelView, access: SharedAccess) -> ThreadOffsets | None:
    """Return the offsets of all threads that execute an access together, None when they are not known.

    Known where the block is known, the thread index alone decides who gets there, and the offset is a linear
    expression of it.
    """
    launch, form = view.launch, None if access.place is None else access.place.offset.linear
    if form is None or launch.threads is None or launch.block is None:
        return None
    execution = view.facts.execution(access.point)
    if not execution.exact or execution.threads is None:
        return None
    used = [thread for thread in execution.threads if thread % WARP < access.lanes]
    threads = np.array(used, dtype=np.int64)
    offsets = np.full(len(threads), form.constant, dtype=np.int64)
    x, y, _ = launch.block
    index = {
        "%tid.x": threads % x,
        "%tid.y": threads // x % y,
        "%tid.z": threads // (x * y),
        "%laneid": threads % 32,
    }
    for atom, factor in form.terms:
        if atom.kind is not AtomKind.SPECIAL or atom.name not in index:
            return None
        offsets = offsets + factor * index[atom.name]
    return ThreadOffsets(threads, offsets)


__all__ = [
    "ROW_BYTES", "SharedAccess", "ThreadOffsets", "access_bytes", "address_lanes", "find_shared_accesses",
    "thread_offsets",
]  # fmt: skip
