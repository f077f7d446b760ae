"""How far threads agree: on a value, or on reaching a point."""

from __future__ import annotations

from enum import IntEnum


class Uniformity(IntEnum):
    """The largest group of threads that all agree; `max` is the join."""

    GRID = 0
    CLUSTER = 1
    CTA = 2
    WARPGROUP = 3
    """All threads of four warps that start at a multiple of four."""
    WARP = 4
    DIVERGENT = 5
