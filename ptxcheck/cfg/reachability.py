"""Which blocks some run may get to, branches on known predicates and indices considered.

Property: a block outside the result is never entered. Values are those of `Values`, which take every path for
possible; dead code is therefore not looked through twice.
"""

from __future__ import annotations

from .cfg import Cfg
from .evaluate import Values
from .graph import Edge


def reachable_blocks(cfg: Cfg, values: Values) -> frozenset[int]:
    """Return the blocks that may be entered."""
    found = {cfg.order[0]}
    work = [cfg.order[0]]
    while work:
        for edge in cfg.edges_from(work.pop()):
            if edge.target not in found and _may_be_taken(cfg, values, edge):
                found.add(edge.target)
                work.append(edge.target)
    return frozenset(found)


def _may_be_taken(cfg: Cfg, values: Values, edge: Edge) -> bool:
    if edge.guard is not None:
        predicate = values.at(cfg.blocks[edge.source].last, edge.guard.register)
        if predicate is None or not predicate.may_be(int(not edge.guard.negated)):
            return False
    index = cfg.jump_index(edge)
    if index is None:
        return True
    number = values.at(cfg.blocks[edge.source].last, index)
    return number is not None and any(number.may_be(case) for case in edge.cases)
