"""Lanes of a warp that have ended when the others come to what wants them together.

Property: `ended_beside` returns a point for each run in order in which lanes pass an aligned barrier, or a
`bar.warp.sync` with a mask that names them, without lanes of their warp that have ended.

Argument: lanes that come to an aligned barrier apart from others say so (`Rendezvous.parted`); of a mask, the lanes
that never come, or come less often, have ended, as else the run is not in order.

Not covered: the cluster barrier, and `shfl`, `vote`, `match` and `redux`, from which PTX exempts threads that have
exited. It exempts neither lanes from `bar.warp.sync` with a mask that names them, nor the others of their warp from an
aligned barrier, which all threads of a warp are to execute. The CUDA programming guide has both wait for threads that
have not exited; GPUs do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.actions import Rendezvous, Strand
from ..model.sync_objects import DivergentWarpBarrier


def ended_beside(strands: Sequence[Strand]) -> int | None:
    """Return where lanes pass a barrier without lanes of their warp that have ended, None if nowhere.

    Asked of a run in order: lanes that do something else then are a flaw.
    """
    came: dict[DivergentWarpBarrier, dict[int, list[int]]] = {}
    for index, strand in enumerate(strands):
        for action in strand.actions:
            if not isinstance(action, Rendezvous):
                continue
            if action.parted:
                return action.point
            if isinstance(action.name, DivergentWarpBarrier) and action.orders:
                came.setdefault(action.name, {}).setdefault(index, []).append(action.point)
    for name, points in came.items():
        rounds = {len(each) for each in points.values()}
        if _missing(strands, name, points) or len(rounds) > 1:
            return max(points.values(), key=len)[-1]
    return None


def _missing(strands: Sequence[Strand], name: DivergentWarpBarrier, came: Iterable[int]) -> int:
    """Return the lanes of a mask that never come to its meeting."""
    there = 0
    for index in came:
        there |= strands[index].lanes
    return name.mask & ~there
