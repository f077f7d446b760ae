"""Role automata as a graph: the lines on its ways are what roles do, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx as nx
import pytest

from ptxcheck.explain.automaton_graph import automaton_dot, automaton_graph, merged, places_of
from ptxcheck.explain.barrier_names import BarrierNames, barrier_names
from ptxcheck.explain.diagram import graphml
from ptxcheck.explain.predicates import predicate_text
from ptxcheck.protocols.automata import ways
from ptxcheck.protocols.automata.round_names import ordinal
from ptxcheck.protocols.role_automata import RoleAutomata, role_automata
from ptxcheck.protocols.symex.values.lane_arithmetic import add, compare
from ptxcheck.protocols.symex.values.symbol import Form, atom
from ptxcheck.protocols.symex.values.trace import Shape
from tests.protocols.corpus_runs import view_of

KERNELS = (
    "ring/three_stages",
    "persistent/tiles_and_steps",
    "pingpong/consumers_in_turn",
    "waits/turn_of_all",
)
_LONGEST = 14


def followed(name: str) -> tuple[RoleAutomata, BarrierNames]:
    view = view_of(name)
    assert view.launch.block is not None
    shape = Shape(view.launch.block, view.launch.cluster or (1, 1, 1))
    found = role_automata(view.cfg, view.function, view.module, view.launch, shape, seconds=6.0).automata
    assert found is not None
    return found, barrier_names(view.function, view.module, found.protocol)


def _ways(
    nexts: Mapping[int, Sequence[tuple[int, str]]], lines: Mapping[int, Sequence[str]]
) -> set[tuple[str, ...]]:
    """Return the first things that may be said on ways from the first place, with what is said of edges."""
    found: set[tuple[str, ...]] = set()
    seen: set[tuple[int, tuple[str, ...]]] = set()
    waiting: list[tuple[int, tuple[str, ...]]] = [(next(iter(lines)), ())]
    while waiting:
        place, said = waiting.pop()
        if (place, said) in seen:
            continue
        seen.add((place, said))
        said = (*said, *lines[place])
        if len(said) >= _LONGEST or not nexts[place]:
            found.add(said[:_LONGEST])
            continue
        for target, text in nexts[place]:
            waiting.append((target, (*said, *filter(None, text.split(", ")))))
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_put_together_says_the_same(name: str) -> None:
    found, names = followed(name)
    for role in found.roles:
        whole = places_of(role, found.automata[role.automaton], names, str)
        ways = _ways({n: p.nexts for n, p in whole.items()}, {n: p.lines for n, p in whole.items()})
        fewer = merged(whole)
        assert _ways({n: p.nexts for n, p in fewer.items()}, {n: p.lines for n, p in fewer.items()}) == ways
        assert len(fewer) < len(whole)


def test_a_ring_is_drawn_for_each_role() -> None:
    found, names = followed("ring/three_stages")
    graph = automaton_graph(found, names, str, "three stages")
    by_role: dict[str, list[str]] = {}
    for _, node in graph.nodes.items():
        by_role.setdefault(node["role"], []).append(node["label"])
    assert list(by_role) == ["producer (warp 0, lane 0)", "worker (warp 0, 31 lanes)", "consumer (warp 1)"]
    loader = by_role["producer (warp 0, lane 0)"]
    assert sum("round >= tiles?" in label for label in loader) == 6, "three stages with two phases each"
    assert {label for _, _, label in graph.edges.data("label")} == {"yes", "no", "first round", "next round"}
    text = automaton_dot(graph)
    assert text.count("subgraph cluster_") == 3
    assert "waits on empty[2] with parity 1" in text
    again = nx.parse_graphml(graphml(graph))
    assert {node["role"] for node in again.nodes.values()} == by_role.keys()
    assert again.number_of_edges() == graph.number_of_edges()


def test_stages_that_are_variables_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "_MOST_NUMBERS", 1)
    found, names = followed("ring/three_stages")
    assert any(role.variants for role in found.roles)
    text = automaton_dot(automaton_graph(found, names, str, "three stages"))
    assert "waits on empty[0-2]  [" in text
    assert " with parity " not in text


N = atom("param", "n", 0, 4)


@pytest.mark.parametrize(
    ("truth", "text"),
    [
        (compare(".lt", N, 1, 32, signed_operands=True), "n < 1"),
        (compare(".ge", ordinal(3), N, 32, signed_operands=True), "round >= n"),
        (compare(".ne", add(ordinal(3), 1, 32), N, 32, signed_operands=True), "round + 1 != n"),
        (N, "n"),
    ],
)
def test_predicates(truth: Form, text: str) -> None:
    assert predicate_text(truth) == text
