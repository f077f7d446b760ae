"""Graphs of roles and barriers: what waits for ever, and circles of waits, are told apart in each format."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import networkx as nx
import pytest

from ptxcheck.explain.barrier_names import barrier_names
from ptxcheck.explain.diagram import dot, graphml, role_graph
from ptxcheck.explain.violations import stuck_at, whole_kernel
from tests.explain.test_counterexample import view
from tests.protocols.machine_runs import kernel

EACH_WAITS = """
mov.u32 %r1, %tid.x; mov.u32 %r2, table; setp.ne.u32 %p1, %r1, 64; setp.lt.u32 %p2, %r1, 32; setp.ge.u32 %p5, %r1, 64;
@%p1 bra READY; mbarrier.init.shared::cta.b64 [%r2], 32; mbarrier.init.shared::cta.b64 [%r2+8], 32; READY:
bar.sync 0;
@%p5 bra END; @%p2 bra FIRST;
{second}
bra END;
FIRST:
A: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra A;
mbarrier.arrive.shared::cta.b64 _, [%r2+8];
END:
"""
WAIT = "B: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r2+8], 0; @!%p4 bra B;"
ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r2];"


def graph_of(second: str) -> Any:
    made = view(kernel(EACH_WAITS.format(second=second), threads=96))
    whole = made.get(whole_kernel)
    assert whole is not None
    violation = next(iter(whole.violations), None)
    run = whole.result.sample if violation is None else violation.run
    assert run is not None
    names = barrier_names(made.function, made.module, run.protocol)
    return role_graph(run.protocol, names, "k", {} if violation is None else stuck_at(violation))


def marked(graph: Any, mark: str) -> set[tuple[str, str]]:
    labels = {ident: node["label"] for ident, node in graph.nodes.items()}
    return {(labels[a], labels[b]) for (a, b), edge in graph.edges.items() if edge[mark]}


def test_a_circle_of_waits_is_a_cycle_of_the_graph() -> None:
    graph = graph_of(f"{WAIT}\n{ARRIVE}")
    blocked, cycle = marked(graph, "blocked"), marked(graph, "cycle")
    assert len(blocked) == 2
    assert len(cycle) == 4
    assert blocked < cycle
    assert sum(", penwidth=2" in line for line in dot(graph).splitlines()) == 4


@pytest.mark.parametrize(("second", "waits"), [(f"{ARRIVE}\n{WAIT}", 0), (WAIT, 2), ("", 1)])
def test_other_waits_are_no_cycle(second: str, waits: int) -> None:
    """In order; both wait and nobody would arrive for one of them; nobody arrives at all."""
    graph = graph_of(second)
    assert len(marked(graph, "blocked")) == waits
    assert not marked(graph, "cycle")
    assert sum("color=red" in line for line in dot(graph).splitlines()) == waits


def test_graphml_is_read_back_as_the_same_graph() -> None:
    graph = graph_of(f"{WAIT}\n{ARRIVE}")
    again = nx.read_graphml(BytesIO(graphml(graph).encode()))
    assert again.graph["title"] == "k"
    assert dict(again.nodes.items()) == dict(graph.nodes.items())
    assert {edge: again.edges[edge] for edge in again.edges} == {
        edge: graph.edges[edge] for edge in graph.edges
    }
