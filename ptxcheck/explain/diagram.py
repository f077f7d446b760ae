"""Roles and barriers of one run as a graph: who arrives, copies and waits where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..protocols.model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Expect,
    Init,
    Protocol,
    Rendezvous,
    Transfer,
    Wait,
)
from .barrier_names import BarrierNames, barriers_of, is_of_warp
from .graphviz import digraph, quoted
from .roles import RoleOf, roles_of


def role_graph(
    protocol: Protocol, names: BarrierNames, title: str, stuck: Mapping[int, int] = MappingProxyType({})
) -> Any:
    """Return a graph of networkx: roles and barriers (all stages of a ring are one) with what is done between them.

    `stuck` has the action at which each strand waits for ever. Edges of such waits are `blocked`, and those of a circle
    of waits, what a stuck role would still bring included, are a `cycle`.
    """
    import networkx as nx

    graph = nx.DiGraph(title=title)
    roles = roles_of(protocol)
    graph.add_nodes_from(
        (f"r{number}", {"kind": "role", "label": role.name}) for number, role in enumerate(roles)
    )
    ids: dict[str, str] = {}
    texts: dict[tuple[str, str], dict[str, None]] = {}
    blocked, waits = set(), nx.DiGraph()
    for number, role in enumerate(roles):
        for deed in _deeds(protocol, role, names, stuck):
            barrier = ids.setdefault(deed.barrier, f"b{len(ids)}")
            edge = (barrier, f"r{number}") if deed.waits else (f"r{number}", barrier)
            texts.setdefault(edge, {})[deed.text] = None
            if deed.is_blocked:
                blocked.add(edge)
            if deed.is_blocked or deed.is_missing:
                waits.add_edge(*edge)
    graph.add_nodes_from((ident, {"kind": "barrier", "label": name}) for name, ident in ids.items())
    circles = [found for found in nx.strongly_connected_components(waits) if len(found) > 1]
    for edge, told in texts.items():
        is_of_circle = edge in waits.edges and any(found.issuperset(edge) for found in circles)
        graph.add_edge(*edge, label=chr(10).join(told), blocked=edge in blocked, cycle=is_of_circle)
    return graph


def dot(graph: Any) -> str:
    """Return a graph of roles for Graphviz: boxes are roles, ellipses barriers, red what waits for ever."""
    lines: list[str] = []
    for ident, node in graph.nodes.items():
        shape = "box" if node["kind"] == "role" else "ellipse"
        lines.append(f"  {ident} [shape={shape}, label={quoted(node['label'])}];")
    for (a, b), edge in graph.edges.items():
        style = ", color=red, fontcolor=red" if edge["blocked"] or edge["cycle"] else ""
        style += ", penwidth=2" if edge["cycle"] else ""
        lines.append(f"  {a} -> {b} [label={quoted(edge['label'])}{style}];")
    return digraph(graph.graph["title"], lines, graph="rankdir=LR, ")


def graphml(graph: Any) -> str:
    """Return a graph of roles for tools that read GraphML, such as yEd, Gephi or networkx."""
    import networkx as nx

    return "\n".join(nx.generate_graphml(graph)) + "\n"


@dataclass(frozen=True, slots=True)
class _Deed:
    """What a role does to a barrier, or that it waits for it."""

    barrier: str
    text: str
    waits: bool = False
    is_blocked: bool = False
    """It waits for ever."""
    is_missing: bool = False
    """It comes behind a wait that does not end."""


def _deeds(
    protocol: Protocol, role: RoleOf, names: BarrierNames, stuck: Mapping[int, int]
) -> Iterator[_Deed]:
    """Yield what a role does to barriers, in its order."""
    for strand in role.strands:
        end = stuck.get(strand)
        for index, action in enumerate(protocol.strands[strand].actions):
            for barrier in () if is_of_warp(action) else barriers_of(action):
                name = names.ring_of(barrier)
                is_missing = end is not None and index > end
                if isinstance(action, Wait) or (isinstance(action, Rendezvous) and not action.arrives):
                    yield _Deed(name, "wait", waits=True, is_blocked=index == end)
                    continue
                text = _deed(action)
                if text:
                    yield _Deed(name, text, is_missing=is_missing)
                if isinstance(action, Rendezvous) and action.waits:
                    yield _Deed(name, "wait", waits=True, is_blocked=index == end)


def _deed(action: Action) -> str:
    match action:
        case Init():
            return f"init {action.count}"
        case Arrive():
            return "arrive" if action.expect == 0 else f"arrive, expect {action.expect} bytes"
        case Expect():
            return f"expect {action.amount} bytes"
        case Transfer():
            return f"copy {action.completes[0][1]} bytes" if action.completes else ""
        case AsyncArrive():
            return "arrive when work is done"
        case Rendezvous():
            return f"arrive, {action.needed} threads"
        case _:
            return ""
