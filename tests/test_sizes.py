"""How large modules and classes may be. The first engine, which another replaces, is left as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ptxcheck"

LINES_OF_A_MODULE = 500
LINES_OF_A_CLASS = 300
MODULES_OF_THE_ROOT = 12

PENDING: tuple[str, ...] = ()
"""Modules that are still too large. This list only becomes shorter."""

MODULES = tuple(
    name
    for path in sorted(PACKAGE.rglob("*.py"))
    if "first" not in (name := path.relative_to(PACKAGE).as_posix()).split("/")
)


def too_large(text: str) -> Iterator[str]:
    """Yield what is too large in the text of a module."""
    lines = len(text.splitlines())
    if lines > LINES_OF_A_MODULE:
        yield f"the module has {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            if lines > LINES_OF_A_CLASS:
                yield f"class {node.name} has {lines} lines"


@pytest.mark.parametrize("name", [name for name in MODULES if name not in PENDING])
def test_modules_and_classes_are_small(name: str) -> None:
    assert list(too_large((PACKAGE / name).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("name", PENDING)
def test_what_is_pending_is_still_too_large(name: str) -> None:
    path = PACKAGE / name
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    assert list(too_large(text)), f"take {name} out of PENDING"


def test_the_root_has_few_modules() -> None:
    names = [path.name for path in PACKAGE.glob("*.py")]
    assert len(names) <= MODULES_OF_THE_ROOT, sorted(names)


def test_the_measure_sees_modules_and_classes_that_are_too_large() -> None:
    at_most = "class A:\n" + "    x = 1\n" * (LINES_OF_A_CLASS - 1)
    assert list(too_large(at_most)) == []
    assert list(too_large(at_most + "    x = 1\n")) == [f"class A has {LINES_OF_A_CLASS + 1} lines"]
    assert list(too_large("x = 1\n" * LINES_OF_A_MODULE)) == []
    assert list(too_large("x = 1\n" * (LINES_OF_A_MODULE + 1))) == [
        f"the module has {LINES_OF_A_MODULE + 1} lines"
    ]
