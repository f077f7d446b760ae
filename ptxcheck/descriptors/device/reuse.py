"""Loads that have ended when the map that they read changes, because their mbarriers were invalidated before.

Property: where `ends_before` answers yes, and no mbarrier of the kernel is initialised while work for an earlier one at
its place may be outstanding (a part of `Property.LIFECYCLE`), every load at `use` has ended when `change` is executed.

The argument: on every way from the load to the change lies an invalidation of each mbarrier that the load may complete
on, then a barrier of the block; behind the change each of them is initialised again, before the kernel ends. Waits of
the load come before the invalidation, since nobody may wait at an mbarrier that is none, and what is known to be over
at the next initialisation was known through them. The whole block gets to these instructions together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocols.typestate.barriers import (
    Barriers,
    BarrierUse,
    Role,
    find_barriers,
)
from ...protocols.typestate.places import Place
from .follower import decides, follower_at
from .order import escapes

if TYPE_CHECKING:
    from ...view import KernelView
    from .flow import DeviceMaps


def ends_before(maps: DeviceMaps, use: int, change: int) -> bool:
    """Tell whether a load surely ends before a change, as far as mbarriers are not used again too early."""
    view = maps.view
    user, changer = follower_at(view, use), follower_at(view, change)
    if user is None or changer is None or user.warps != changer.warps or len(user.warps) != 1:
        return False
    places = _completes_on(view.get(find_barriers), use)
    if not places:
        return False
    for place in places:
        over = _together(maps, view.get(find_barriers).at(place, view.get(find_barriers).having(Role.INVAL)))
        again = _together(maps, view.get(find_barriers).at(place, view.get(find_barriers).inits))
        if escapes(view, user, use, change, [over, maps.block_barriers]):
            return False
        if _may_end(view, change, again):
            return False
    return True


def _completes_on(barriers: Barriers, use: int) -> tuple[Place, ...]:
    """Return the places of the mbarriers that a load may complete on; none where they are not known."""
    signal = next((each for each in barriers.having(Role.SIGNAL) if each.point == use), None)
    if signal is None or not barriers.complete or barriers.unknown:
        return ()
    inits = [each for each in barriers.inits if each.place is None or signal.may_be(each.place)]
    known = [each.place for each in inits if _is_known(each) and each.place is not None]
    return tuple(known) if len(known) == len(inits) else ()


def _is_known(use: BarrierUse) -> bool:
    return use.is_local and use.place is not None and use.place.at is not None


def _together(maps: DeviceMaps, points: frozenset[int]) -> frozenset[int]:
    """Return the points that some thread surely executes whenever the block gets there, all of it together."""
    view = maps.view
    blocks = {view.cfg.graph.block_of[point] for point in maps.block_barriers}
    found: set[int] = set()
    for point in points:
        guard, who = view.cfg.instructions[point].guard, follower_at(view, point)
        runs = guard is None or (who is not None and decides(view, who, point, guard) is True)
        if runs and view.cfg.graph.block_of[point] in blocks:
            found.add(point)
    return frozenset(found)


def _may_end(view: KernelView, start: int, barred: frozenset[int]) -> bool:
    """Tell whether the kernel may end behind a point without passing a barred one."""
    cfg = view.cfg
    seen: set[int] = set()
    work = [(cfg.graph.block_of[start], start + 1)]
    while work:
        block, first = work.pop()
        if any(point in barred for point in range(first, cfg.blocks[block].end)):
            continue
        targets = [edge.target for edge in cfg.edges_from(block)]
        if not targets or cfg.exit in targets:
            return True
        for target in targets:
            if target not in seen:
                seen.add(target)
                work.append((target, cfg.blocks[target].start))
    return False
