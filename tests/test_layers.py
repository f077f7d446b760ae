"""Imports point one way: each module imports only from its own layer or the ones before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ptxcheck"

LAYERS = (
    ("source", "target", "op", "spec", "ir", "finding", "launch", "results", "verdict", "plugins"),
    ("isa",),
    ("parser",),
    ("cfg",),
    ("view", "integer_terms", "smt"),
    ("descriptors", "protocols"),
    ("hostcode",),
    ("rules", "resources"),
    ("repair", "report"),
    (
        "positions",
        "comments",
        "launches",
        "parameter_facts",
        "fingerprint",
        "files",
        "frontends",
        "collector",
        "cache",
        "executors",
    ),
    (
        "launch_comments",
        "schedule_marks",
        "host_maps",
        "suppress",
        "config",
        "evaluate",
        "evaluate_host",
        "verdict_table",
        "profile",
        "watch",
        "repository",
        "baseline",
    ),
    (
        "check",
        "drawings",
        "dump",
        "placement",
        "judge",
        "source_repair",
        "host_repair",
        "output",
        "differences",
        "settings",
        "suppressing",
    ),
    ("triton", "pytest_plugin", "page", "lsp"),
    (
        "progress",
        "command_output",
        "fix_commands",
        "hardware_commands",
        "lsp_commands",
        "show_commands",
        "tma_commands",
        "view_commands",
    ),
    ("schedule_commands",),
    ("repair_commands",),
    ("cli",),
)
ONLY_IN = {
    "sarif_om": "report/sarif.py",
    "rich": "progress.py",
    "pysmt": "smt.py",
    "z3": "smt.py",
    "tree_sitter": "hostcode/cpp_nodes.py",
    "tree_sitter_cuda": "hostcode/cpp_nodes.py",
    "pygls": "lsp/server.py",
    "lsprotocol": "lsp",
}
"""Packages that one module, or one folder, confines."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def unit(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rank(name: str) -> int:
    found = [number for number, layer in enumerate(LAYERS) if name in layer]
    assert found, f"ptxcheck.{name} has no layer: add it to LAYERS and to docs/architecture.md"
    return found[0]


def imported(path: Path) -> Iterator[str]:
    """Yield the absolute dotted names that a module imports."""
    package = ["ptxcheck", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = [*base, *([node.module] if node.module else [])]
            if node.module is None or stem == ["ptxcheck"]:
                yield from (".".join([*stem, alias.name]) for alias in node.names)
            else:
                yield ".".join(stem)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = unit(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "ptxcheck" or parts[1:] in (["__version__"], []):
            continue
        lazy_view = own == "view"
        allowed = parts[1] == own or rank(parts[1]) <= rank(own) or lazy_view
        assert allowed, f"{own} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_confined_packages(path: Path) -> None:
    for name in imported(path):
        home = ONLY_IN.get(name.split(".")[0])
        assert home is None or PACKAGE / home in (path, *path.parents), f"{name} belongs in {home}"


def test_only_the_command_line_prints_or_exits() -> None:
    for path in MODULES:
        if path.name in ("cli.py", "__main__.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "sys.exit", "exit", "click.echo"), f"{path}: {called}"
