"""Which blocks some run may get to, branches on known predicates and indices considered.

Property: a block that `Reachability` denies is never entered. Values are those of `Values`, which take every
path for possible; dead code is therefore not looked through twice.

A question is answered by a search backwards for one way from the entry, blocks early in the order first, so
that most branches are never looked at. Searches that find much and prove little give way to one search
forwards: all questions together cost no more than a constant number of looks at each edge.
"""

from __future__ import annotations

from functools import cached_property

from .cfg import Cfg
from .evaluate import Values
from .graph import Edge

_PATIENCE = 2
"""Searches may look at so many times the blocks of the function before all are decided at once."""


class Reachability:
    """Reachable blocks of one function."""

    def __init__(self, cfg: Cfg, values: Values) -> None:
        self._cfg = cfg
        self._values = values
        self._reached = {cfg.order[0]}
        self._missed: set[int] = set()
        self._patience = _PATIENCE * len(cfg.order)

    def of(self, block: int) -> bool:
        """Tell whether a block may be entered."""
        if block in self._reached:
            return True
        if block in self._missed or not self._cfg.dominators.reached(block):
            return False
        return self._search(block) if self._patience > 0 else block in self._all

    def _search(self, block: int) -> bool:
        way = [block]
        seen = {block}
        pending = [self._sources(block)]
        while pending:
            if not pending[-1]:
                pending.pop()
                way.pop()
                continue
            edge = pending[-1].pop()
            if edge.source in seen or edge.source in self._missed or not self.may_be_taken(edge):
                continue
            if edge.source in self._reached:
                self._reached.update(way)
                return True
            seen.add(edge.source)
            way.append(edge.source)
            pending.append(self._sources(edge.source))
            self._patience -= 1
        self._missed |= seen
        return False

    def _sources(self, block: int) -> list[Edge]:
        """Return the edges into a block, that from the earliest block last."""
        return sorted(self._cfg.edges_into(block), key=lambda edge: -self._position.get(edge.source, 0))

    @cached_property
    def _position(self) -> dict[int, int]:
        return {block: position for position, block in enumerate(self._cfg.order)}

    @cached_property
    def _all(self) -> frozenset[int]:
        found = {self._cfg.order[0]}
        work = [self._cfg.order[0]]
        while work:
            for edge in self._cfg.edges_from(work.pop()):
                if edge.target not in found and self.may_be_taken(edge):
                    found.add(edge.target)
                    work.append(edge.target)
        return frozenset(found)

    def may_be_taken(self, edge: Edge) -> bool:
        """Tell whether some thread that is at the end of its source may take an edge."""
        if not self._cfg.dominators.reached(edge.source):
            return False
        if edge.guard is not None:
            predicate = self._values.at(self._cfg.blocks[edge.source].last, edge.guard.register)
            if predicate is None or not predicate.may_be(int(not edge.guard.negated)):
                return False
        index = self._cfg.jump_index(edge)
        if index is None:
            return True
        number = self._values.at(self._cfg.blocks[edge.source].last, index)
        return number is not None and any(number.may_be(case) for case in edge.cases)


__all__ = ["Reachability"]
