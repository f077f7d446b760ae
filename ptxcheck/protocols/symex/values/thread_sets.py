"""Sets of threads of a CTA by their warps.

Property: the functions return exactly the threads that their names tell, among those given.

Argument: a warp is 32 threads in a row, from a multiple of 32 on.

Not covered: CTAs of more threads than the count that is given.
"""

from __future__ import annotations

from collections.abc import Iterator

from .symbol import LANE, WARP, Lanes
from .trace import ThreadSet

MOST_PARTS = 32
"""Most sets of threads that something is looked at for one by one."""


def warps_of(threads: ThreadSet, count: int) -> Iterator[int]:
    """Yield the first thread of each warp with some threads of a CTA with `count`."""
    for first in range(0, count, 32):
        if threads >> first & 0xFFFFFFFF:
            yield first


def by_warp(threads: ThreadSet, count: int) -> list[ThreadSet]:
    """Return some threads of a CTA warp by warp."""
    return [threads & 0xFFFFFFFF << first for first in warps_of(threads, count)]


def holds_two_lanes(threads: ThreadSet) -> bool:
    """Tell whether some of these threads are of one warp."""
    while threads:
        if (threads & 0xFFFFFFFF).bit_count() > 1:
            return True
        threads >>= 32
    return False


def warps_by_number(value: Lanes, threads: ThreadSet) -> list[ThreadSet]:
    """Return the threads with each number, none where the threads of a warp have several."""
    found: dict[int, ThreadSet] = {}
    for part in by_warp(threads, len(value)):
        first = (part & -part).bit_length() - 1
        number = int(value[first])
        if any(int(value[each]) != number for each in range(first, part.bit_length()) if part >> each & 1):
            return []
        found[number] = found.get(number, 0) | part
    return list(found.values())


def holds_whole_warps(part: ThreadSet, guard: ThreadSet, count: int) -> bool:
    """Tell whether a part of the active threads holds all active threads of each warp that it touches."""
    return all(not ((part ^ guard) & guard) >> first & 0xFFFFFFFF for first in warps_of(part, count))


def is_one_value_in(differs: int, threads: ThreadSet, first: int) -> bool:
    """Tell whether threads that may differ in this way are one warp, one lane of all warps, or one thread."""
    if differs & WARP and threads >> first // 32 * 32 + 32:
        return False
    if differs & LANE:
        lanes_used = 0
        rest = threads
        while rest:
            lanes_used |= rest & 0xFFFFFFFF
            rest >>= 32
        return lanes_used.bit_count() == 1
    return True
