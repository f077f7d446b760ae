"""The control-flow graph of one kernel, placed for drawing.

Large graphs are drawn without the blocks that do nothing to barriers, copies or matrix work: an edge then stands for
all paths between two blocks that pass such blocks only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..cfg import Cfg, EdgeKind
from ..cfg.dominance import reverse_postorder
from ..cfg.graph import Block, Edge
from ..opcodes.spec import Trait
from ..view import KernelView
from .layers import draw
from .places import Places, cut

MOST_BLOCKS = 160
"""Blocks that are drawn; graphs that are larger without the blocks between are only listed."""
MOST_LISTED = 1000
_ROWS = 6
_LONGEST_ROW = 48
_CHAR, _ROW, _HEAD, _PADDING = 6.7, 16, 26, 18
_SYNCHRONISING = frozenset({Trait.ASYNC, Trait.MBARRIER, Trait.BARRIER})
_ENDS = {EdgeKind.EXIT: "ends", EdgeKind.TRAP: "traps"}


def control_flow(view: KernelView, places: Places) -> dict[str, Any]:
    """Return the blocks and edges of a kernel with their places, and what was left out."""
    return _Flow(view, places).data()


@dataclass(frozen=True)
class _Flow:
    view: KernelView
    places: Places

    @property
    def _cfg(self) -> Cfg:
        return self.view.cfg

    def data(self) -> dict[str, Any]:
        cfg = self._cfg
        reached = [block for block in cfg.blocks if cfg.dominators.reached(block.index)]
        kept = reached if len(reached) <= MOST_BLOCKS else [b for b in reached if self._matters(b)]
        listed = kept[:MOST_LISTED]
        edges = dict(self._edges({block.index for block in kept}))
        blocks = [
            self._block(block, {t: e for (s, t), e in edges.items() if s == block.index}) for block in listed
        ]
        drawn = len(kept) <= MOST_BLOCKS
        return {
            "all": len(reached),
            "shown": len(listed),
            "drawn": drawn,
            "blocks": blocks,
            **(self._drawing(kept, blocks, edges) if drawn else {"edges": [], "width": 0, "height": 0}),
        }

    # -- what is shown

    def _matters(self, block: Block) -> bool:
        return block.index == self._cfg.graph.entry or any(map(self._synchronises, block.points))

    def _synchronises(self, point: int) -> bool:
        return not _SYNCHRONISING.isdisjoint(self._cfg.instructions[point].operation.traits)

    def _edges(self, kept: set[int]) -> Iterator[tuple[tuple[int, int], list[Edge]]]:
        """Yield ends of paths between kept blocks, with the edge of each path that has no block between."""
        for source in sorted(kept):
            direct: dict[int, list[Edge]] = {}
            for edge in self._cfg.edges_from(source):
                direct.setdefault(edge.target, []).append(edge)
            for target in self._next(source, kept):
                yield (source, target), direct.get(target, [])

    def _next(self, source: int, kept: set[int]) -> list[int]:
        """Return the kept blocks that paths from a block come to first."""
        seen: dict[int, None] = {}
        stack = [edge.target for edge in reversed(self._cfg.edges_from(source))]
        while stack:
            block = stack.pop()
            if block == self._cfg.exit or block in seen:
                continue
            seen[block] = None
            if block not in kept:
                stack += [edge.target for edge in reversed(self._cfg.edges_from(block))]
        return [block for block in seen if block in kept]

    def _block(self, block: Block, following: Mapping[int, list[Edge]]) -> dict[str, Any]:
        marked = [point for point in block.points if self._synchronises(point)]
        if len(marked) > _ROWS:
            rows, more = marked[:_ROWS], len(marked) - _ROWS
        else:
            rows, more = marked, 0
        ends = sorted({_ENDS[edge.kind] for edge in self._cfg.edges_from(block.index) if edge.kind in _ENDS})
        return {
            "index": block.index,
            "points": [self.places.note(block.start), self.places.note(block.last)] if block.points else [],
            "count": len(block.points),
            "rows": [[self.places.note(point), self._text(point)] for point in rows],
            "more": more,
            "ends": ends,
            "loop": len(self._cfg.loops_around(block.index)),
            "head": any(loop.header == block.index for loop in self._cfg.loops),
            "next": [[target, _label(edges)] for target, edges in following.items()],
        }

    def _text(self, point: int) -> str:
        instruction = self._cfg.instructions[point]
        text = self.view.module.source.text[instruction.start : instruction.end]
        return cut(" ".join(text.split()), _LONGEST_ROW)

    # -- where it is drawn

    def _drawing(
        self, kept: list[Block], blocks: list[dict[str, Any]], edges: Mapping[tuple[int, int], list[Edge]]
    ) -> dict[str, Any]:
        successors: list[list[int]] = [[] for _ in range(len(self._cfg.blocks) + 1)]
        for source, target in edges:
            successors[source].append(target)
        order = {block: n for n, block in enumerate(reverse_postorder(self._cfg.graph.entry, successors))}
        forward = [(s, t) for s, t in edges if order.get(t, -1) > order.get(s, -1)]
        sizes = {block["index"]: _size(block) for block in blocks}
        drawing = draw([block.index for block in kept], forward, sizes)
        for block in blocks:
            block["at"] = [*drawing.centres[block["index"]], *sizes[block["index"]]]
        return {
            "edges": [
                {
                    "ends": [source, target],
                    "label": _label(found),
                    "back": (source, target) not in drawing.bends,
                    "bends": [list(bend) for bend in drawing.bends.get((source, target), ())],
                }
                for (source, target), found in edges.items()
            ],
            "width": drawing.width,
            "height": drawing.height,
        }


def _size(block: Mapping[str, Any]) -> tuple[float, float]:
    longest = max((len(text) for _, text in block["rows"]), default=0)
    rows = len(block["rows"]) + bool(block["more"]) + bool(block["ends"])
    return max(150.0, round(longest * _CHAR + _PADDING, 1)), float(_HEAD + _ROW * rows + 8)


def _label(edges: list[Edge]) -> str:
    """Return what must hold to take edges: `p`, `!p`, `case 1, 2`."""
    texts: dict[str, None] = {}
    for edge in edges:
        if edge.guard is not None:
            texts[f"{'!' if edge.guard.negated else ''}{edge.guard.register.name}"] = None
        elif edge.cases:
            texts[f"case {', '.join(map(str, edge.cases[:4]))}{'…' if len(edge.cases) > 4 else ''}"] = None
        elif edge.kind is EdgeKind.UNKNOWN:
            texts["perhaps"] = None
    return ", ".join(texts)
