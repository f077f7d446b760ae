"""Each module of the verifier says what it claims, why that holds, and what it leaves out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PROTOCOLS = Path(__file__).parents[2] / "ptxcheck" / "protocols"
PACKAGES = ("symex", "automata", "order", "product", "proof", "contract")
"""Packages whose modules have the headings; nothing below `first` is asked for them."""
HEADINGS = ("Property:", "Argument:", "Not covered:")

MODULES = sorted(
    path
    for package in PACKAGES
    for path in (PROTOCOLS / package).rglob("*.py")
    if path.name != "__init__.py" and "first" not in path.relative_to(PROTOCOLS).parts
)


def headings(text: str) -> list[str]:
    """Return the headings that open paragraphs of the docstring of a module, but for its first sentence."""
    paragraphs = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[1:]
    return [heading for each in paragraphs for heading in HEADINGS if each.startswith(f"{heading} ")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PROTOCOLS).as_posix())
def test_modules_state_their_property(path: Path) -> None:
    """Once each, in order."""
    assert headings(path.read_text(encoding="utf-8")) == list(HEADINGS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""Sum.\n\nProperty: a.\n\nArgument: b.\n\nNot covered: c.\n"""\n', list(HEADINGS)),
        ('"""Property: a.\n\nArgument: b.\n"""\n', ["Argument:"]),
        ('"""Sum.\n\nThe Property: of it.\n"""\n', []),
        ("x = 1\n", []),
    ],
)
def test_headings_open_paragraphs(text: str, found: list[str]) -> None:
    assert headings(text) == found
