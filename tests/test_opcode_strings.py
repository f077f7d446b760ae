"""Rules and protocols ask for operations, traits and slots; they never compare the text of an opcode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.isa import rows_by_mnemonic

_ROOT = Path(ptxcheck.__file__).parent
_FILES = sorted([*(_ROOT / "rules").rglob("*.py"), *(_ROOT / "protocols").rglob("*.py")])
_TESTS_OF_TEXT = {"startswith", "endswith", "match", "search", "fullmatch", "find"}


def _compared_strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string that is compared with, looked up in a literal, or matched."""
    for node in ast.walk(tree):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            operands = list(node.args) if node.func.attr in _TESTS_OF_TEXT else []
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        for operand in operands:
            for inner in ast.walk(operand):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield inner.lineno, inner.value


def _is_opcode(text: str) -> bool:
    known = rows_by_mnemonic()
    return any(text == name or text.startswith(name + ".") for name in known) and "." in text.strip(".")


def test_the_test_sees_an_opcode() -> None:
    tree = ast.parse(
        "x = instr.operation.text == 'mbarrier.init.shared.b64' or t.startswith('cp.async.bulk')"
    )
    assert [text for _, text in _compared_strings(tree) if _is_opcode(text)]


@pytest.mark.parametrize("path", _FILES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_no_opcode_is_compared_as_text(path: Path) -> None:
    found = [
        f"{line}: {text!r}"
        for line, text in _compared_strings(ast.parse(path.read_text()))
        if _is_opcode(text)
    ]
    assert not found, found
