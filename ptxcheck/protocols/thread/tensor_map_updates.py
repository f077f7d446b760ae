"""Tensor maps that a thread changes in global memory and then uses.

Property: each `Update` is on a feasible path of one thread from a change of a tensor map to a copy that
reads the same map through the tensormap proxy, with none of the fences that order the two, wherever they
may be aimed. `in_flight` yields changes of a map while a copy that completes in a group may still read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...ir import Address, Instruction
from ...isa.modifier import Mod
from ...op import Op
from ...spec import Trait
from .paths import Query
from .same_bytes import Bytes, bytes_at, meeting

if TYPE_CHECKING:
    from ...view import KernelView

MAP_BYTES = 128
_CHANGES = frozenset({Op.TENSORMAP_REPLACE, Op.TENSORMAP_CP_FENCEPROXY})


class Missing(Enum):
    """The fence that a path lacks."""

    ACQUIRE = "acquire"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Update:
    """A change of a tensor map, and its use without a fence."""

    change: int
    use: int
    missing: Missing


def unfenced_updates(view: KernelView) -> Iterator[Update]:
    """Yield the first use of each changed map that lacks a fence."""
    uses = _uses(view)
    for change in changes(view) if uses else ():
        acquiring = _closing(view, lambda i: _fences(i, Mod.ACQUIRE))
        releasing = _closing(
            view, lambda i: _fences(i, Mod.RELEASE) or i.operation.op is Op.TENSORMAP_CP_FENCEPROXY
        )
        is_fused = view.cfg.instructions[change.point].operation.op is Op.TENSORMAP_CP_FENCEPROXY
        for use in uses:
            if _follows(view, change, use, acquiring):
                yield Update(change.point, use.point, Missing.ACQUIRE)
                break
            if not is_fused and _follows(view, change, use, releasing):
                yield Update(change.point, use.point, Missing.RELEASE)
                break


def in_flight(view: KernelView) -> Iterator[tuple[int, int]]:
    """Yield each change of a map that a copy begun before may still read, and that copy."""
    groups = view.bulk_groups
    used = {use.point: use for use in _uses(view) if use.point in groups.copies} if groups.copies else {}
    for slip in groups.touched(used, changes(view)) if used else ():
        yield slip.point, slip.copy


def changes(view: KernelView) -> tuple[Bytes, ...]:
    """Return what writes tensor maps in global memory."""
    found: list[Bytes] = []
    for point, instruction in enumerate(view.cfg.instructions):
        operation = instruction.operation
        if operation.op not in _CHANGES or operation.slots.get("space", "").startswith(".shared"):
            continue
        address = instruction.get("addr") or instruction.get("dst")
        if not view.facts.never_runs(point):
            found.append(bytes_at(view, point, address, Mod.GLOBAL, MAP_BYTES))
    return tuple(found)


def _uses(view: KernelView) -> tuple[Bytes, ...]:
    return tuple(
        bytes_at(view, point, address, Mod.GLOBAL, MAP_BYTES)
        for point, instruction in enumerate(view.cfg.instructions)
        if isinstance(address := instruction.get("tensor_map"), Address) and not view.facts.never_runs(point)
    )


def _follows(view: KernelView, change: Bytes, use: Bytes, closing: frozenset[int]) -> bool:
    if not view.cfg.reaches(change.point, use.point):
        return False
    met = meeting(view, change, use)
    if met is None:
        return False
    query = Query(
        frozenset({change.point}), frozenset({use.point}), closing | met.barred, threads=met.threads
    )
    return view.paths.find(query) is not None


def _closing(view: KernelView, wanted: Callable[[Instruction], bool]) -> frozenset[int]:
    """Return the points of wanted instructions, calls and opaque ones."""
    unknown = {Trait.ANYTHING, Trait.CALL}
    instructions = enumerate(view.cfg.instructions)
    return frozenset(p for p, i in instructions if wanted(i) or i.operation.traits & unknown)


def _fences(instruction: Instruction, order: Mod) -> bool:
    operation = instruction.operation
    if operation.op not in (Op.FENCE_PROXY, Op.MEMBAR_PROXY):
        return False
    return operation.has(Mod.TENSORMAP_GENERIC) and operation.has(order)


__all__ = ["MAP_BYTES", "Missing", "Update", "changes", "in_flight", "unfenced_updates"]
