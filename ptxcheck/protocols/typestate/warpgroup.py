"""Points that some warps of a warpgroup execute while others of it never do.

Property: when `part_of_warpgroup(view, point)` gives a set of threads, no others execute the point, and each warpgroup
of theirs (four warps from a multiple of four on) has a warp that does not exist or is not among them, or, where all of
them come together, some warpgroup has. They are whole warps, or the other lanes have ended before, by their index;
lanes that are elsewhere are `part_of_warp`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import ThreadSet
from .divergence import part_of_warp

if TYPE_CHECKING:
    from ...view import KernelView

WARP = 32
WARPGROUP = 128


def part_of_warpgroup(view: KernelView, point: int) -> ThreadSet | None:
    """Return the threads that execute a point without the rest of their warpgroup, None when not proved."""
    launch = view.launch
    if launch.max_threads is not None and launch.max_threads < WARPGROUP:
        return ThreadSet.all(launch.max_threads)
    execution = view.facts.execution(point)
    threads = execution.threads
    guarded = _guarded_part(view, point)
    if guarded is not None:
        return guarded
    if threads is None or not execution.exact or launch.threads is None or not len(threads):
        return None
    if is_whole(threads) or (not threads.whole(WARP) and part_of_warp(view, point) is not None):
        return None
    return threads


def _guarded_part(view: KernelView, point: int) -> ThreadSet | None:
    """Return the threads of a guard that goes by the thread and holds for some warps of a warpgroup, or for none of it.

    None where it holds for all warps of some warpgroup, or for a part of a warp.
    """
    guard, count = view.body.instructions[point].guard, view.launch.threads
    if guard is None or count is None or count % WARPGROUP:
        return None
    words = view.facts.by_thread(view.facts.name(point, guard.register))
    if words is None:
        return None
    bits = sum(1 << thread for thread in range(count) if bool(int(words[thread]) & 1) != guard.negated)
    at_most = view.facts.execution(point).threads
    holds = ThreadSet(bits if at_most is None else bits & at_most.bits, count)
    full = (1 << WARPGROUP) - 1
    whole = any(holds.bits >> first & full == full for first in range(0, count, WARPGROUP))
    return None if whole or not holds.bits or not holds.whole(WARP) else holds


def is_whole(threads: ThreadSet) -> bool:
    """Tell whether a set is made of complete warpgroups, each of 128 threads."""
    full = (1 << WARPGROUP) - 1
    return all(threads.bits >> first & full in (0, full) for first in range(0, threads.size, WARPGROUP))


__all__ = ["WARP", "WARPGROUP", "is_whole", "part_of_warpgroup"]
