"""Points that some warps of a warpgroup execute while others of it never do.

Property: when `part_of_warpgroup(view, point)` gives a set of threads, exactly these execute the point
together in every run that gets there, they are whole warps, and some warp of theirs belongs to a warpgroup
(four warps from a multiple of four on) of which another warp does not exist or is not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import ThreadSet

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
    if threads is None or not execution.exact or launch.threads is None or not len(threads):
        return None
    if not threads.whole(WARP) or is_whole(threads):
        return None
    return threads


def is_whole(threads: ThreadSet) -> bool:
    """Tell whether a set is made of complete warpgroups, each of 128 threads."""
    full = (1 << WARPGROUP) - 1
    return all(threads.bits >> first & full in (0, full) for first in range(0, threads.size, WARPGROUP))


__all__ = ["WARP", "WARPGROUP", "is_whole", "part_of_warpgroup"]
