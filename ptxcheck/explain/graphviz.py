"""Texts as Graphviz reads them."""

from __future__ import annotations

CENTRED, LEFT = "\\n", "\\l"
"""How Graphviz ends a line."""


def quoted(text: str, line_end: str = CENTRED) -> str:
    """Return a text as a quoted string, with its lines centred or to the left."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", line_end)
    return f'"{escaped}"'


__all__ = ["CENTRED", "LEFT", "quoted"]
