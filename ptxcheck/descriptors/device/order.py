"""Whether each change of a tensor map is ordered before the copies that use it, and after those that used it.

Property: `gaps` is empty only where, on every path, each use comes behind a release and an acquire of the last
change (PTX ISA 8.11, 9.7.14.4), each change behind the end of every earlier use, and each step of making a map
behind a barrier where another thread made the step before. Taken for granted: that `flow.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.spec import Trait
from ...protocols.typestate.copy_groups import bulk_groups
from ...protocols.typestate.paths import Paths, Query
from .contents import NO_CHANGE, Step
from .events import (
    CopyOut,
    Fill,
    Use,
    Write,
)
from .flow import DeviceMaps
from .follower import (
    Follower,
    decides,
    follower_at,
    takes,
)
from .place import MAP_BYTES, Key
from .separate import spacing

if TYPE_CHECKING:
    from ...view import KernelView


_TELLING = frozenset({Trait.WAIT, Trait.BARRIER, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING})
_STRONG = (Mod.RELAXED, Mod.ACQUIRE, Mod.VOLATILE, Mod.MMIO)
"""Loads by which another thread may tell that a copy is done."""


class Certainty(Enum):
    """Whether something is known to go wrong, or only not known to go right."""

    WRONG = "wrong"
    OPEN = "open"


class GapKind(Enum):
    """Where a hand-over of a map fails."""

    USE = "use"
    """A change, then a copy that reads the map."""
    REUSE = "reuse"
    """A copy that reads the map, then a change."""
    MAKING = "making"
    """Steps of different threads that make one map."""
    BLOCKS = "blocks"
    """Different blocks of the grid."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing at a point, with the other point that it is about (-1: none)."""

    kind: GapKind
    point: int
    other: int
    text: str
    certainty: Certainty = Certainty.OPEN
    by_mbarriers: bool = False
    """The end of a load is told by mbarriers alone."""


def gaps(maps: DeviceMaps) -> Iterator[Gap]:
    """Yield what keeps the maps of a kernel from being ordered."""
    for use in maps.uses:
        yield from _of_use(maps, use)
    changes = _changes(maps)
    for use in maps.uses:
        for point, key in changes:
            if use.key is not None and key == use.key and maps.view.cfg.reaches(use.point, point):
                yield from _of_reuse(maps, use, point)
    yield from _of_making(maps)
    yield from _of_blocks(maps)


def _changes(maps: DeviceMaps) -> list[tuple[int, Key]]:
    found = [(e.point, e.key) for e in maps.replacements if e.key is not None and not e.key.is_shared]
    found += [(e.point, e.target) for e in maps.copies_out if e.target is not None]
    return found


# ---- a use behind its change


def _of_use(maps: DeviceMaps, use: Use) -> Iterator[Gap]:
    known = maps.at(use)
    if known is None:
        yield Gap(GapKind.USE, use.point, -1, "which map the copy reads, or who changed it, was not followed")
        return
    late = sorted((p, s) for p, s in known.steps if s is not Step.ACQUIRED)
    if not late:
        return
    if any(step is Step.UNKNOWN for _, step in late):
        yield Gap(
            GapKind.USE, use.point, -1, "whether the last change of the map was acquired was not followed"
        )
        return
    point, step = late[0]
    missing = "released and acquired" if step is Step.CHANGED else "acquired"
    sure = len(late) == len(known.steps) and all(p != NO_CHANGE for p, _ in late)
    text = f"the map was changed and not {missing} since"
    yield Gap(GapKind.USE, use.point, point, text, Certainty.WRONG if sure else Certainty.OPEN)


# ---- a change behind earlier uses


def _of_reuse(maps: DeviceMaps, use: Use, change: int) -> Iterator[Gap]:
    view = maps.view
    user, changer = follower_at(view, use.point), follower_at(view, change)
    if user is None or changer is None:
        yield Gap(GapKind.REUSE, change, use.point, "who changes and who uses the map is not known")
        return
    operation = view.cfg.instructions[use.point].operation
    if not operation.has(Mod.BULK_GROUP):
        if _is_unawaited(view, use.point, change):
            text = "the map changes while a copy that reads it is under way: nothing has waited for it"
            yield Gap(GapKind.REUSE, change, use.point, text, Certainty.WRONG)
        else:
            text = "whether the copy that reads the map has ended is decided by mbarriers, not followed here"
            yield Gap(GapKind.REUSE, change, use.point, text, by_mbarriers=True)
        return
    groups = view.get(bulk_groups)
    passed = {p for p in groups.commits | groups.waits.keys() if _passes(view, user, p)}
    commits = frozenset(groups.commits & passed)
    waits = frozenset(p for p, kept in groups.waits.items() if kept == 0 and p in passed)
    stages = [commits, waits]
    if user.warps != changer.warps or len(user.warps) != 1:
        stages.append(maps.block_barriers)
    if escapes(view, user, use.point, change, stages):
        yield Gap(
            GapKind.REUSE,
            change,
            use.point,
            "the map changes on a path with no wait for the store that reads it",
        )


def _is_unawaited(view: KernelView, use: int, change: int) -> bool:
    """Tell whether one thread surely comes from a load to the change, and nothing tells it that the load is done."""
    telling = frozenset(
        point for point, instruction in enumerate(view.cfg.instructions) if _may_tell(instruction)
    )
    query = Query(frozenset({use}), frozenset({change}), telling)
    return view.get(Paths.of).find(query) is not None


def _may_tell(instruction: Instruction) -> bool:
    operation = instruction.operation
    if operation.traits & _TELLING:
        return True
    return Trait.LOAD in operation.traits and any(operation.has(order) for order in _STRONG)


def _passes(view: KernelView, follower: Follower, point: int) -> bool:
    """Tell whether the follower surely executes an instruction when it gets to it."""
    guard = view.cfg.instructions[point].guard
    return guard is None or decides(view, follower, point, guard) is True


def escapes(
    view: KernelView, follower: Follower | None, start: int, goal: int, stages: Sequence[frozenset[int]]
) -> bool:
    """Tell whether the follower may come from one point to another without passing the stages in order.

    Without a follower all edges count.
    """
    seen: set[tuple[int, int]] = set()
    cfg = view.cfg
    work = [(cfg.graph.block_of[start], start + 1, 0)]
    while work:
        block, first, stage = work.pop()
        for point in range(first, cfg.blocks[block].end):
            if point == goal:
                return True
            if point in stages[stage]:
                stage += 1
                if stage == len(stages):
                    break
        if stage == len(stages):
            continue
        for edge in cfg.edges_from(block):
            if edge.target == cfg.exit or (edge.target, stage) in seen:
                continue
            if follower is not None and not takes(view, follower, edge):
                continue
            seen.add((edge.target, stage))
            work.append((edge.target, cfg.blocks[edge.target].start, stage))
    return False


# ---- making a map in shared memory


def _of_making(maps: DeviceMaps) -> Iterator[Gap]:
    for copy in maps.copies_out:
        for event in maps.replacements:
            if event.key is not None and event.key == copy.source:
                text = "a field is replaced and the map copied with no barrier of the warp between"
                yield from _unmet(maps, event.point, copy.point, text)
        yield from _of_other_writes(maps, copy)
    fills = [event for event in maps.events if isinstance(event, Fill)]
    for fill in fills:
        for event in maps.replacements:
            if event.key == fill.key:
                text = "zeros are stored and a field is replaced with no barrier between"
                yield from _unmet(maps, fill.point, event.point, text)


def _unmet(maps: DeviceMaps, first: int, then: int, text: str) -> Iterator[Gap]:
    view = maps.view
    a, b = follower_at(view, first), follower_at(view, then)
    if not view.cfg.reaches(first, then) or (a is not None and a == b and _is_one(a)):
        return
    if a is None or b is None:
        yield Gap(GapKind.MAKING, then, first, "who makes the map is not known")
        return
    near = len(a.warps) == 1 and a.warps == b.warps
    barriers = maps.block_barriers | (maps.warp_barriers if near else frozenset())
    if escapes(view, a, first, then, [barriers]):
        one, many, where = (a, b, then) if _is_one(a) else (b, a, first)
        by_others = _is_one(one) and bool(many.threads & ~one.threads) and _is_by_all(maps, where)
        is_sure = by_others and not any(_lies_between(view, first, each, then) for each in barriers)
        yield Gap(GapKind.MAKING, then, first, text, Certainty.WRONG if is_sure else Certainty.OPEN)


def _is_by_all(maps: DeviceMaps, point: int) -> bool:
    """Tell whether every thread that may execute a step of making a map does: copies want the whole warp."""
    is_copy = any(copy.point == point for copy in maps.copies_out)
    return is_copy or maps.view.facts.execution(point).exact


def _lies_between(view: KernelView, first: int, point: int, then: int) -> bool:
    """Tell whether some way from one point to another that passes each of them once passes a third one."""
    return _reaches_without(view, first, point, frozenset({then})) and _reaches_without(
        view, point, then, frozenset({first})
    )


def _is_one(follower: Follower) -> bool:
    return follower.threads.bit_count() == 1 or (follower.is_elected and len(follower.warps) == 1)


def _of_other_writes(maps: DeviceMaps, copy: CopyOut) -> Iterator[Gap]:
    """Yield writes of other threads over a map between its first and its last step."""
    view = maps.view
    maker = None if copy.source is None else maps.makers.get(copy.source)
    fills = [e.point for e in maps.events if isinstance(e, Fill) and e.key == copy.source]
    writes = [e.point for e in maps.events if isinstance(e, Write) and e.key == copy.source]
    copies = frozenset(e.point for e in maps.copies_out if e.source == copy.source)
    for write in writes:
        if maker is not None and follower_at(view, write) == maker:
            continue
        for fill in fills:
            before = _reaches_without(view, fill, write, copies)
            if before and _reaches_without(view, write, copy.point, frozenset(fills)):
                yield Gap(
                    GapKind.MAKING,
                    copy.point,
                    write,
                    "something else may write over the map while it is made",
                )
                return


def _reaches_without(view: KernelView, start: int, goal: int, barred: frozenset[int]) -> bool:
    return escapes(view, None, start, goal, [barred]) if barred else view.cfg.reaches(start, goal)


# ---- other blocks


def _of_blocks(maps: DeviceMaps) -> Iterator[Gap]:
    changes = _changes(maps)
    for base in dict.fromkeys(key.base for _, key in changes):
        ours = [(point, key) for point, key in changes if key.base == base]
        step = spacing(maps.view, ours[0][1])
        offsets = [key.offset for _, key in ours]
        if step is None or step < max(offsets) - min(offsets) + MAP_BYTES:
            text = "that no other block of the grid writes the same map is not shown"
            yield Gap(GapKind.BLOCKS, ours[0][0], -1, text)


__all__ = ["Certainty", "Gap", "GapKind", "escapes", "gaps"]
