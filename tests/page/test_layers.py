"""Layered drawings: nothing overlaps, edges lead down, and the same graph is drawn the same."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.page.layers import Drawing, Edge, draw


@st.composite
def acyclic(drawn: st.DrawFn) -> tuple[list[int], list[Edge], dict[int, tuple[float, float]]]:
    count = drawn(st.integers(1, 14))
    pairs = list(combinations(range(count), 2))
    edges = drawn(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    widths = drawn(st.lists(st.integers(20, 300), min_size=count, max_size=count))
    return list(range(count)), edges, {n: (float(w), 20.0 + n) for n, w in enumerate(widths)}


Graph = tuple[list[int], list[Edge], dict[int, tuple[float, float]]]


def box(
    drawing: Drawing, sizes: dict[int, tuple[float, float]], node: int
) -> tuple[float, float, float, float]:
    (x, y), (w, h) = drawing.centres[node], sizes[node]
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


@given(acyclic())
def test_nothing_overlaps_and_edges_lead_down(graph: Graph) -> None:
    nodes, edges, sizes = graph
    drawing = draw(nodes, edges, sizes)
    for one, other in combinations(nodes, 2):
        a, b = box(drawing, sizes, one), box(drawing, sizes, other)
        assert a[2] <= b[0] + 0.2 or b[2] <= a[0] + 0.2 or a[3] <= b[1] + 0.2 or b[3] <= a[1] + 0.2
    for source, target in edges:
        heights = [
            drawing.centres[source][1], *(bend[1] for bend in drawing.bends[source, target]),
            drawing.centres[target][1],
        ]  # fmt: skip
        assert heights == sorted(heights)
        assert box(drawing, sizes, source)[3] < box(drawing, sizes, target)[1]


@given(acyclic())
def test_everything_is_inside(graph: Graph) -> None:
    nodes, edges, sizes = graph
    drawing = draw(nodes, edges, sizes)
    for node in nodes:
        left, top, right, bottom = box(drawing, sizes, node)
        assert left >= -0.2
        assert top >= -0.2
        assert right <= drawing.width + 0.2
        assert bottom <= drawing.height + 0.2


@given(acyclic())
def test_same_graph_same_drawing(graph: Graph) -> None:
    assert draw(*graph) == draw(*graph)


def test_a_diamond_is_drawn_as_one() -> None:
    sizes = {node: (100.0, 20.0) for node in range(4)}
    at = draw(range(4), [(0, 1), (0, 2), (1, 3), (2, 3)], sizes).centres
    assert at[1][1] == at[2][1]
    middle = (at[1][0] + at[2][0]) / 2
    assert abs(at[0][0] - middle) < 1
    assert abs(at[3][0] - middle) < 1


def test_an_empty_graph() -> None:
    assert draw([], [], {}).centres == {}
