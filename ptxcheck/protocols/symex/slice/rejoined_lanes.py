"""Where lanes of a warp that went different ways may still be apart.

Property: an instruction that some run may come to with lanes of one warp apart, because they took different sides of
a branch, is in `apart`.

Argument: PTX says of no place behind a branch that its sides wait for each other. Lanes are together again at a
warp-collective that names all of them, and at an aligned barrier, where no guard lets some pass. What one side of a
branch comes to without such an instruction, and another side at all, is where they may join, whether or not a side may
also end.

Not covered: lanes that come to one side together: that they are active there together is an assumption with a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ....cfg.cfg import Cfg


def apart(cfg: Cfg, differs: Callable[[int], bool], meets: Callable[[int], bool]) -> frozenset[int]:
    """Return the points at which lanes of a warp may be apart.

    `differs` tells whether lanes of a warp may leave a block on different ways, `meets` whether they are together
    behind a point.
    """
    found: set[int] = set()
    for block, ways in enumerate(cfg.successors):
        sides = set(ways)
        if len(sides) > 1 and differs(block):
            reached = Counter(point for side in sides for point in _points_from(cfg, side, lambda _: False))
            alone = {point for side in sides for point in _points_from(cfg, side, meets)}
            found.update(point for point in alone if reached[point] > 1)
    return frozenset(found)


def _points_from(cfg: Cfg, side: int, ends: Callable[[int], bool]) -> Iterator[int]:
    """Yield the points that one side of a branch comes to, each once, up to those where its way ends."""
    seen = {cfg.exit}
    waiting = [side]
    while waiting:
        block = waiting.pop()
        if block in seen:
            continue
        seen.add(block)
        for point in cfg.blocks[block].points:
            yield point
            if ends(point):
                break
        else:
            waiting += cfg.successors[block]
