"""Member masks of warp-collectives, and those that cannot be right where they stand.

Property: `misplaced_masks` reports a constant mask only where a lane that executes the instruction is not in
it, or where a lane of it is alive on another path and meets no instruction of the same kind with the same mask there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...cfg import ThreadSet
from ...ir import Instruction, Operand
from ...opcodes.spec import Trait
from .divergence import (
    WARP,
    Part,
    controlling,
    part_of_warp,
)

if TYPE_CHECKING:
    from ...view import KernelView

FULL = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A mask that names lanes that are elsewhere, or leaves out one that is there."""

    point: int
    mask: int
    complaint: str
    branch: int | None
    """Where other lanes go elsewhere, None when the mask lacks a lane wherever those may be."""
    sure: bool


def masks(view: KernelView) -> Iterator[tuple[int, Operand]]:
    """Yield the points of warp-collectives with their member masks."""
    for point, instruction in enumerate(view.body.instructions):
        if Trait.COLLECTIVE in instruction.operation.traits:
            mask = member_mask(instruction)
            if mask is not None:
                yield point, mask


def member_mask(instruction: Instruction) -> Operand | None:
    """Return the mask of the lanes that a warp-collective is for, None when it has none."""
    return instruction.get("member_mask") or instruction.get("mask")


def misplaced_masks(view: KernelView) -> Iterator[Misplaced]:
    """Yield the masks that do not fit the lanes that execute them."""
    for point, operand in masks(view):
        mask = view.facts.constant(point, operand)
        if mask is None or mask & FULL == 0:
            continue
        lacking = _lacking(view, point, mask & FULL)
        if lacking is not None:
            yield lacking
            continue
        part = part_of_warp(view, point)
        if part is None or _has_partner(view, point, part, mask & FULL):
            continue
        complaint = _complaint(mask & FULL, part)
        if complaint is not None:
            yield Misplaced(point, mask & FULL, complaint, part.branch, part.sure)


def _lacking(view: KernelView, point: int, mask: int) -> Misplaced | None:
    """Return that a mask lacks a lane which executes the instruction, wherever other lanes are."""
    execution = view.facts.execution(point)
    if execution.threads is None or not execution.exact:
        return None
    complaint = _missing(mask, execution.threads)
    sure = view.launch.threads is not None
    return None if complaint is None else Misplaced(point, mask, complaint, None, sure)


def _missing(mask: int, threads: ThreadSet) -> str | None:
    for warp in threads.warps:
        here = threads.bits >> warp * WARP & FULL
        if here & ~mask:
            return f"lacks lanes {_lanes(here & ~mask)}, which execute the instruction"
    return None


def _complaint(mask: int, part: Part) -> str | None:
    if part.threads is None:
        return "names more than the one thread of the warp that is here" if mask & mask - 1 else None
    missing = _missing(mask, part.threads)
    if missing is not None:
        return missing
    for warp in part.threads.warps:
        here = part.threads.bits >> warp * WARP & FULL
        alive = (1 << min(WARP, part.threads.size - warp * WARP)) - 1
        if mask & alive & ~here:
            return f"names lanes {_lanes(mask & alive & ~here)}, which are not here"
    return None


def _lanes(bits: int) -> str:
    lanes = [lane for lane in range(WARP) if bits >> lane & 1]
    return f"{lanes[0]} to {lanes[-1]}" if len(lanes) > 2 else " and ".join(map(str, lanes))


def _has_partner(view: KernelView, point: int, part: Part, mask: int) -> bool:
    """Tell whether the other lanes may meet the same kind of instruction, with the mask, on a path of their own."""
    cfg = view.cfg
    kind = cfg.instructions[point].operation.op
    above = {branch for branch, _ in controlling(cfg, cfg.graph.block_of[point])}
    return any(
        other != point
        and instruction.operation.op is kind
        and _may_name(view, other, mask)
        and _is_apart(view, other, above, part)
        for other, instruction in enumerate(cfg.instructions)
    )


def _may_name(view: KernelView, point: int, mask: int) -> bool:
    """Tell whether a warp-collective may have a mask; its lanes wait for others with the same one."""
    operand = member_mask(view.cfg.instructions[point])
    constant = None if operand is None else view.facts.constant(point, operand)
    return constant is None or constant & FULL == mask


def _is_apart(view: KernelView, other: int, above: set[int], part: Part) -> bool:
    """Tell whether another point is under the dividing branch, away from the lanes that are here."""
    threads = view.facts.execution(other).threads
    if part.threads is not None and threads is not None:
        return len(threads) > 0 and len(threads & part.threads) == 0
    cfg = view.cfg
    mine = set(controlling(cfg, cfg.graph.block_of[other]))
    return any(branch in above for branch, _ in mine)


__all__ = ["FULL", "Misplaced", "masks", "member_mask", "misplaced_masks"]
