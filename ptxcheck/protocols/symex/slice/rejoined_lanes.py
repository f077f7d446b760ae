"""Where lanes of a warp that went different ways may still be apart.

Property: an instruction that some run may come to with lanes of one warp apart, because they took different sides of
a branch that joins before it, is in `apart`.

Argument: PTX says of no place behind a branch that its sides wait for each other. Lanes are together again at a
warp-collective that names all of them, and at an aligned barrier. From the join of each branch that may differ between
lanes all blocks are searched up to such an instruction.

Not covered: lanes that come to one side together: that they are active there together is an assumption with a name.
"""

from __future__ import annotations

from collections.abc import Callable

from ....cfg.cfg import Cfg


def apart(cfg: Cfg, differs: Callable[[int], bool], meets: Callable[[int], bool]) -> frozenset[int]:
    """Return the points at which lanes of a warp may be apart.

    `differs` tells whether lanes of a warp may leave a block on different ways, `meets` whether they are together
    behind a point.
    """
    joins = (
        cfg.postdominators.parent[block]
        for block, ways in enumerate(cfg.successors)
        if len(ways) > 1 and differs(block)
    )
    waiting = [join for join in joins if join is not None and join != cfg.exit]
    seen: set[int] = set()
    found: set[int] = set()
    while waiting:
        block = waiting.pop()
        if block in seen or block == cfg.exit:
            continue
        seen.add(block)
        for point in cfg.blocks[block].points:
            found.add(point)
            if meets(point):
                break
        else:
            waiting += cfg.successors[block]
    return frozenset(found)
