"""The extension for VS Code: the grammar colours what the instruction table knows, and the files fit together."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ptxcheck import __version__, cli
from ptxcheck.isa import rows_by_mnemonic
from ptxcheck.lsp.options import Verify
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

from .kernels import NESTED

onigurumacffi = pytest.importorskip("onigurumacffi")
FOLDER = Path(__file__).parent.parent.parent / "editors" / "vscode"
CORPUS = sorted((FOLDER.parent.parent / "corpus").rglob("*.ptx"))
KEYWORD = "keyword.control.instruction.ptx"


def loaded(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return value


@cache
def rules(name: str = "") -> tuple[tuple[Any, dict[str, Any]], ...]:
    """Return the compiled rules of a part of the grammar, or of the whole, includes resolved."""
    grammar = loaded("syntaxes/ptx.tmLanguage.json")
    found: list[tuple[Any, dict[str, Any]]] = []
    for rule in (grammar["repository"][name] if name else grammar)["patterns"]:
        if "include" in rule:
            found += rules(rule["include"].removeprefix("#"))
        else:
            found.append((onigurumacffi.compile(rule.get("match") or rule["begin"]), rule))
    return tuple(found)


def scopes(line: str) -> list[str]:
    """Return the scope of each character of a line, as an editor finds them: the first match, rules in order."""
    found = [""] * len(line)
    for start, end, name in _scoped(line, 0, len(line), ""):
        found[start:end] = [name] * (end - start)
    return found


def _scoped(line: str, at: int, end: int, part: str) -> Iterator[tuple[int, int, str]]:
    while at < end:
        matches = [
            (match, rule) for pattern, rule in rules(part) if (match := pattern.search(line, at)) is not None
        ]
        matches = [(match, rule) for match, rule in matches if match.start() < end and match.end() > at]
        if not matches:
            return
        match, rule = min(matches, key=lambda each: each[0].start())
        if "name" in rule:
            yield match.start(), match.end(), rule["name"]
        for number, capture in rule.get("captures", {}).items():
            start, stop = match.span(int(number))
            if start >= 0 and "name" in capture:
                yield start, stop, capture["name"]
            elif start >= 0:
                for each in capture["patterns"]:
                    yield from _scoped(line, start, stop, each["include"].removeprefix("#"))
        at = max(match.end(), at + 1)


def test_the_grammar_is_that_of_the_table() -> None:
    spec = importlib.util.spec_from_file_location("make_grammar", FOLDER / "make_grammar.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    message = "run python editors/vscode/make_grammar.py"
    assert module.text() == (FOLDER / "syntaxes/ptx.tmLanguage.json").read_text(encoding="utf-8"), message


@pytest.mark.parametrize("mnemonic", sorted(rows_by_mnemonic()))
def test_every_instruction_is_a_keyword(mnemonic: str) -> None:
    for line in (
        f"\t{mnemonic}.u32 %r1, x;",
        f"{mnemonic};",
        f"@!%p1 {mnemonic} [x];",
        f"ret; {mnemonic}.x9;",
    ):
        start = line.index(mnemonic, 3 if line.startswith("ret; ") else 0)
        found = scopes(line)
        assert set(found[start : start + len(mnemonic)]) == {KEYWORD}, line
        assert found[start + len(mnemonic)] != KEYWORD


@pytest.mark.parametrize(
    ("line", "text", "scope"),
    [
        ("  mov.u32 %r1, bar;", "bar", "variable.other.ptx"),
        ("  mov.u32 %r1, %tid.x;", "%tid.x", "variable.language.special.ptx"),
        ("  mov.u32 %r1, %tid.x;", ".u32", "support.type.ptx"),
        ("  mov.u32 %r1, %tid.x;", "%r1", "variable.other.register.ptx"),
        ("  bar.sync 0; // mov.u32", "// mov.u32", "comment.line.double-slash.ptx"),
        ("  mbarrier.init.shared::cta.b64 [x], 1;", ".shared::cta", "storage.modifier.ptx"),
        ("add:", "add", "entity.name.label.ptx"),
        ("$L__BB0_2: ret;", "$L__BB0_2", "entity.name.label.ptx"),
        ("$L__BB0_2: ret;", "ret", KEYWORD),
        (".visible .entry _Z1kv(", "_Z1kv", "entity.name.function.ptx"),
        (".visible .entry _Z1kv(", ".visible", "storage.type.directive.ptx"),
        ("  .reg .b32 %r<4>;", ".reg", "storage.type.directive.ptx"),
        ("  .reg .b32 %r<4>;", ".b32", "support.type.ptx"),
        ("  mov.f32 %f1, 0f3F800000;", "0f3F800000", "constant.numeric.float.ptx"),
        ("  mov.b32 %r1, 0xff;", "0xff", "constant.numeric.hex.ptx"),
        ('  .file 1 "mov.cu"', '"mov.cu"', "string.quoted.double.ptx"),
        ("  @!%p1 bra L;", "%p1", "variable.parameter.guard.ptx"),
        ("    bar,", "bar", "variable.other.ptx"),
    ],
)
def test_scopes(line: str, text: str, scope: str) -> None:
    start = line.index(text)
    assert set(scopes(line)[start : start + len(text)]) == {scope}


@pytest.mark.parametrize("text", [NESTED, *(path.read_text(encoding="utf-8") for path in CORPUS[::12])])
def test_kernels_have_a_keyword_for_each_instruction(text: str) -> None:
    module = parse_module(Source("k.ptx", text))
    lines = [scopes(line) for line in text.split("\n")]
    marked = sum(len(re.findall(f"(?:{KEYWORD})+", "".join(line))) for line in lines)
    bodies = [function.body for function in module.functions if function.body is not None]
    known = [i for body in bodies for i in body.instructions if i.operation.is_mnemonic_known]
    assert marked == len(known) > 0


def test_the_corpus_is_there() -> None:
    assert len(CORPUS[::12]) > 5


def test_the_settings_are_those_that_the_server_reads() -> None:
    package = loaded("package.json")
    settings = package["contributes"]["configuration"]["properties"]
    assert settings["ptxcheck.verify"]["enum"] == [each.value for each in Verify]
    assert settings["ptxcheck.verify"]["default"] == Verify.ON_TYPE.value
    program, command = settings["ptxcheck.command"]["default"]
    assert (program, command in cli.main.commands) == ("ptxcheck", True)
    assert package["version"] == __version__
    code = (FOLDER / "extension.js").read_text(encoding="utf-8")
    read = {f"ptxcheck.{name}" for name in re.findall(r'settings\.get\("(\w+)"\)', code)}
    assert read == set(settings) - {"ptxcheck.trace.server"}
    assert package["capabilities"]["untrustedWorkspaces"]["supported"] is False


def test_every_file_that_is_named_is_there() -> None:
    contributed = loaded("package.json")["contributes"]
    paths = [each["path"] for each in contributed["grammars"]]
    paths += [each["configuration"] for each in contributed["languages"] if "configuration" in each]
    assert paths
    for path in paths:
        loaded(path)
    for pattern in (loaded("language-configuration.json")["wordPattern"],):
        assert re.findall(pattern, "mov.u32 %r1, $L;") == ["mov", ".u32", "%r1", "$L"]


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_the_extension_is_javascript() -> None:
    done = subprocess.run(
        ["node", "--check", str(FOLDER / "extension.js")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
