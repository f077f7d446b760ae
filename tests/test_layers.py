"""Imports point one way: each module imports only from its own layer or the ones before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

PACKAGE = Path(__file__).parent.parent / "ptxcheck"

LAYERS = (
    ("source", "version", "opcodes"),
    ("ir", "finding", "launch", "verdict"),
    ("results",),
    ("isa",),
    ("parser",),
    ("cfg",),
    ("terms",),
    ("descriptors",),
    ("view",),
    ("protocols.typestate",),
    ("descriptors.agreement",),
    ("descriptors.device",),
    ("descriptors.contract",),
    ("protocols.symex.values",),
    ("protocols.symex.slice",),
    ("protocols.symex.interpreter",),
    ("protocols.model",),
    ("protocols.order",),
    ("protocols.contract",),
    ("protocols.automata",),
    ("protocols.product",),
    ("protocols.proof",),
    ("protocols.proof.first",),
    ("protocols.contract.first",),
    ("protocols.proof.first.driver",),
    ("protocols.role_automata",),
    ("protocols.verify",),
    ("protocols.races",),
    ("explain",),
    ("hostcode",),
    ("sources", "runtime.plugins"),
    ("rules", "resources"),
    ("runtime",),
    ("launches",),
    ("triage",),
    ("repair", "report"),
    ("frontends",),
    ("config",),
    ("pipeline",),
    ("checker",),
    ("patching",),
    ("page", "lsp", "triton"),
    ("commands",),
    ("cli",),
)
"""From the bottom up. A package inside another has a rank of its own where it is named here."""

ONLY_IN = {
    "sarif_om": "report/sarif.py",
    "pysmt": "terms/smt",
    "z3": "terms/smt",
    "bitwuzla": "terms/smt",
    "cvc5": "terms/smt",
    "pathspec": "frontends/ignored.py",
    "tree_sitter": "hostcode/cpp_nodes.py",
    "tree_sitter_cuda": "hostcode/cpp_nodes.py",
    "pygls": "lsp/server.py",
    "lsprotocol": "lsp",
}
"""Packages that one module, or one folder, confines."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


RANKS = {name: number for number, layer in enumerate(LAYERS) for name in layer}


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit(module: str) -> str:
    """Return the longest name of a layer that a module is in."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    found = next((name for name in names if name in RANKS), None)
    assert found is not None, f"ptxcheck.{module} has no layer: add it to LAYERS and to docs/architecture.md"
    return found


def imported(path: Path) -> Iterator[str]:
    """Yield the absolute dotted names that a module imports."""
    package = ["ptxcheck", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = [*base, *([node.module] if node.module else [])]
            for alias in node.names:
                inner = PACKAGE.parent.joinpath(*stem, alias.name)
                is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                yield ".".join([*stem, alias.name] if is_module else stem)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    """At the top, in functions and under TYPE_CHECKING alike."""
    module = module_of(path)
    if module == "protocols" or module.endswith("__main__"):
        return
    own = unit(module)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "ptxcheck" or parts[1:] == []:
            continue
        other = unit(".".join(parts[1:]))
        assert other == own or RANKS[other] < RANKS[own], f"{own} imports {name}"


def test_no_import_circles() -> None:
    """Of modules, at the top, in functions and under TYPE_CHECKING alike."""
    modules = {f"ptxcheck.{module_of(path)}": path for path in MODULES}
    modules["ptxcheck"] = PACKAGE / "__init__.py"
    graph = networkx.DiGraph()
    for module, path in modules.items():
        for name in imported(path):
            target = next((each for each in (name, name.rpartition(".")[0]) if each in modules), None)
            if target is not None:
                graph.add_edge(module, target)
    circles = [sorted(found) for found in networkx.strongly_connected_components(graph) if len(found) > 1]
    assert not circles, circles


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_confined_packages(path: Path) -> None:
    for name in imported(path):
        home = ONLY_IN.get(name.split(".")[0])
        assert home is None or PACKAGE / home in (path, *path.parents), f"{name} belongs in {home}"


def test_only_the_console_prints_or_exits() -> None:
    for path in MODULES:
        if path == PACKAGE / "commands" / "console.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "sys.exit", "exit", "click.echo"), f"{path}: {called}"
