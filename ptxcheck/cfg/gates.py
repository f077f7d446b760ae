"""Ways into a merge: which branches decide by which edge a thread comes into a block.

Property: a thread that comes into `block` has come from its dominator, the first of `order`, through blocks of `order`,
each of them once at most, and took at each block an edge whose guard holds. For blocks outside loops, with few between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .cfg import Cfg
from .definitions import Definitions, Name
from .graph import Edge, EdgeKind

_MOST_BLOCKS = 48
_PLAIN = frozenset({EdgeKind.FALL, EdgeKind.BRANCH})


@dataclass(frozen=True, slots=True)
class Gates:
    """The region between a block and its dominator."""

    block: int
    order: tuple[int, ...]
    """The dominator, then the blocks between in topological order."""
    deciders: Mapping[Edge, Name]
    """Predicate of each guarded edge of the region."""


def gates_of(cfg: Cfg, definitions: Definitions, block: int) -> Gates | None:
    """Return the region of a merge, None when it is in a loop, too large, or decided by something else than guards."""
    top = cfg.dominators.parent[block]
    if top is None or cfg.loop_forest.innermost[block] is not None:
        return None
    inside = _between(cfg, top, block)
    if inside is None:
        return None
    order = tuple(each for each in cfg.order if each == top or each in inside)
    deciders: dict[Edge, Name] = {}
    for source in order:
        if cfg.loop_forest.innermost[source] is not None:
            return None
        for edge in cfg.edges_from(source):
            if edge.kind not in _PLAIN:
                return None
            if edge.guard is not None:
                deciders[edge] = definitions.before(cfg.blocks[source].last, edge.guard.register)
    return Gates(block, order, deciders)


def _between(cfg: Cfg, top: int, block: int) -> frozenset[int] | None:
    """Return the blocks on the ways from a dominator to a block; None when they are many."""
    found: set[int] = set()
    work = [block]
    while work:
        for source in cfg.predecessors[work.pop()]:
            if source != top and source not in found and cfg.dominators.reached(source):
                found.add(source)
                work.append(source)
                if len(found) > _MOST_BLOCKS or source == block:
                    return None
    return frozenset(found)


__all__ = ["Gates", "gates_of"]
