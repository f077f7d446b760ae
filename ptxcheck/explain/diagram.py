"""Roles and barriers of one run as a graph: who arrives, copies and waits where."""

from __future__ import annotations

from collections.abc import Iterator

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
from .roles import RoleOf, roles_of


def protocol_graph(protocol: Protocol, names: BarrierNames, title: str) -> str:
    """Return a graph for Graphviz: boxes are roles, ellipses barriers (all stages of a ring in one)."""
    roles = roles_of(protocol)
    ids: dict[str, str] = {}
    edges: dict[tuple[str, str], dict[str, None]] = {}
    for number, role in enumerate(roles):
        for source, target, text in _edges(protocol, role, names):
            ends = tuple(
                f"r{number}" if end is None else ids.setdefault(end, f"b{len(ids)}")
                for end in (source, target)
            )
            edges.setdefault((ends[0], ends[1]), {})[text] = None
    lines = [
        f"digraph {_quoted(title)} {{",
        f"  graph [rankdir=LR, label={_quoted(title)}, labelloc=t];",
        '  node [fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    lines += [f"  r{number} [shape=box, label={_quoted(role.name)}];" for number, role in enumerate(roles)]
    lines += [f"  {ident} [shape=ellipse, label={_quoted(name)}];" for name, ident in ids.items()]
    lines += [f"  {a} -> {b} [label={_quoted(chr(10).join(texts))}];" for (a, b), texts in edges.items()]
    return "\n".join([*lines, "}"]) + "\n"


def _edges(
    protocol: Protocol, role: RoleOf, names: BarrierNames
) -> Iterator[tuple[str | None, str | None, str]]:
    """Yield edges between a role (None) and the barriers of its actions, with what is done."""
    for index in role.strands:
        for action in protocol.strands[index].actions:
            for barrier in () if is_of_warp(action) else barriers_of(action):
                name = names.ring_of(barrier)
                if isinstance(action, Wait) or (isinstance(action, Rendezvous) and not action.arrives):
                    yield name, None, "wait"
                    continue
                text = _deed(action)
                if text:
                    yield None, name, text
                if isinstance(action, Rendezvous) and action.waits:
                    yield name, None, "wait"


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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
