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
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .copy_groups import bulk_groups
from .must_alias import (
    Bytes,
    Meeting,
    bytes_at,
    meeting,
)
from .paths import Paths, Query

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
    made = _last_of_blocks(view, changes(view)) if uses else ()
    if not made:
        return
    acquiring = _closing(view, lambda i: _fences(i, Mod.ACQUIRE))
    releasing = _closing(view, lambda i: _fences(i, Mod.RELEASE) or _is_fused(i))
    for change in made:
        found = _use_after(view, change, uses, acquiring)
        if found is not None:
            yield Update(change.point, found, Missing.ACQUIRE)
        elif not _is_fused(view.cfg.instructions[change.point]):
            found = _use_after(view, change, uses, releasing)
            if found is not None:
                yield Update(change.point, found, Missing.RELEASE)


def _is_fused(instruction: Instruction) -> bool:
    return instruction.operation.op is Op.TENSORMAP_CP_FENCEPROXY


def _last_of_blocks(view: KernelView, accesses: tuple[Bytes, ...]) -> tuple[Bytes, ...]:
    """Keep the last of the accesses to one address in each block."""
    block_of = view.cfg.graph.block_of
    return tuple({(block_of[one.point], one.value.linear): one for one in accesses}.values())


def in_flight(view: KernelView) -> Iterator[tuple[int, int]]:
    """Yield each change of a map that a copy begun before may still read, and that copy."""
    groups = view.get(bulk_groups)
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


def _use_after(
    view: KernelView, change: Bytes, uses: tuple[Bytes, ...], closing: frozenset[int]
) -> int | None:
    """Return a use of a changed map that a path comes to with none of the closing points on it."""
    together: dict[Meeting, set[int]] = {}
    for use in uses:
        met = meeting(view, change, use) if view.cfg.reaches(change.point, use.point) else None
        if met is not None:
            together.setdefault(met, set()).add(use.point)
    for met, points in together.items():
        barred = closing | met.barred
        query = Query(frozenset({change.point}), frozenset(points), barred, threads=met.threads)
        found = view.get(Paths.of).find(query)
        if found is not None:
            return found.then
    return None


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
