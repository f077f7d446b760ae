"""Graphs and texts as Graphviz reads them."""

from __future__ import annotations

from collections.abc import Iterable

CENTRED, LEFT = "\\n", "\\l"
"""How Graphviz ends a line."""


def quoted(text: str, line_end: str = CENTRED) -> str:
    """Return a text as a quoted string, with its lines centred or to the left."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", line_end)
    return f'"{escaped}"'


def digraph(title: str, lines: Iterable[str], *, graph: str = "", node: str = "") -> str:
    """Return a graph with a title above it; `graph` and `node` are further attributes of all, each with a comma."""
    name = quoted(title)
    head = [
        f"digraph {name} {{",
        f"  graph [{graph}label={name}, labelloc=t];",
        f'  node [{node}fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    return "\n".join([*head, *lines, "}"]) + "\n"


__all__ = ["CENTRED", "LEFT", "digraph", "quoted"]
