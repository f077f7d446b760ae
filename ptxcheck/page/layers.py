"""Layered drawings of directed graphs (Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical
system structures", 1981): layers by longest path, order by barycentres, then places that pull neighbours together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import networkx as nx

Node = int
Edge = tuple[Node, Node]
_SWEEPS = 8
_BEND_WIDTH = 16.0
"""Room that an edge takes which passes through a layer."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Centres of nodes and bends of edges, in pixels from the upper left."""

    centres: Mapping[Node, tuple[float, float]]
    bends: Mapping[Edge, tuple[tuple[float, float], ...]]
    """Where each forward edge enters and leaves the layers between its ends."""
    width: float
    height: float


def draw(
    nodes: Sequence[Node],
    edges: Iterable[Edge],
    sizes: Mapping[Node, tuple[float, float]],
    *,
    gap: tuple[float, float] = (28.0, 46.0),
) -> Drawing:
    """Place the nodes of an acyclic graph. `sizes` are widths and heights, `gap` the space between them."""
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    layer_of = {
        node: number for number, layer in enumerate(nx.topological_generations(graph)) for node in layer
    }
    bent = _with_bends(graph, layer_of)
    layers = _ordered(graph, layer_of)
    widths: dict[Any, float] = {node: sizes[node][0] if node in sizes else _BEND_WIDTH for node in graph}
    across = _across(graph, layers, widths, gap[0])
    tops, top = [], 0.0
    for layer in layers:
        tall = max((sizes[node][1] for node in layer if node in sizes), default=0.0)
        tops.append((top, tall))
        top += tall + gap[1]
    left = min((across[node] - widths[node] / 2 for node in graph), default=0.0)

    def centre(node: Any) -> tuple[float, float]:
        start, tall = tops[layer_of[node]]
        return round(across[node] - left, 1), round(start + tall / 2, 1)

    def through(bend: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return where an edge enters a layer and leaves it: straight down, beside what is in it."""
        start, tall = tops[layer_of[bend]]
        x = round(across[bend] - left, 1)
        return (x, round(start, 1)), (x, round(start + tall, 1))

    right = max((across[node] + widths[node] / 2 for node in graph), default=0.0)
    return Drawing(
        {node: centre(node) for node in nodes},
        {edge: tuple(point for bend in chain for point in through(bend)) for edge, chain in bent.items()},
        round(right - left, 1),
        round(max(top - gap[1], 0.0), 1),
    )


def _with_bends(graph: Any, layer_of: dict[Any, int]) -> dict[Edge, list[Any]]:
    """Replace edges over several layers by chains of bends; return the bends of every edge."""
    found: dict[Edge, list[Any]] = {}
    for source, target in list(graph.edges):
        chain = [("bend", source, target, number) for number in range(layer_of[source] + 1, layer_of[target])]
        found[source, target] = chain
        if chain:
            graph.remove_edge(source, target)
            nx.add_path(graph, [source, *chain, target])
            layer_of.update({bend: bend[3] for bend in chain})
    return found


def _ordered(graph: Any, layer_of: Mapping[Any, int]) -> list[list[Any]]:
    """Return the layers, their nodes in an order that makes few edges cross."""
    layers: list[list[Any]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for node in graph:
        layers[layer_of[node]].append(node)
    place = {node: float(number) for layer in layers for number, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        near = graph.predecessors if down else graph.successors
        for layer in layers if down else reversed(layers):
            centres = {node: _mean([place[other] for other in near(node)], place[node]) for node in layer}
            layer.sort(key=lambda node: (centres[node], place[node]))
            place.update({node: float(number) for number, node in enumerate(layer)})
    return layers


def _across(
    graph: Any, layers: Sequence[Sequence[Any]], widths: Mapping[Any, float], gap: float
) -> dict[Any, float]:
    """Return the horizontal centre of each node: near its neighbours, and apart from those beside it."""
    found: dict[Any, float] = {}
    for layer in layers:
        at = 0.0
        for node in layer:
            found[node] = at + widths[node] / 2
            at += widths[node] + gap
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = [
                _mean([found[other] for other in nx.all_neighbors(graph, node)], found[node])
                for node in layer
            ]
            found.update(zip(layer, _apart(layer, wanted, widths, gap), strict=True))
    return found


def _apart(
    layer: Sequence[Any], wanted: Sequence[float], widths: Mapping[Any, float], gap: float
) -> list[float]:
    """Return places near those that are wanted, in order and apart: the mean of packing from both sides."""
    steps = [(widths[a] + widths[b]) / 2 + gap for a, b in pairwise(layer)]
    right, left = list(wanted), list(wanted)
    for number, step in enumerate(steps):
        right[number + 1] = max(right[number + 1], right[number] + step)
    for number, step in reversed(list(enumerate(steps))):
        left[number] = min(left[number], left[number + 1] - step)
    return [(a + b) / 2 for a, b in zip(left, right, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
