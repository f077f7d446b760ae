"""How kernels that nobody has read are found, split and counted."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora.blind import half_of, main, target_of
from benchmarks.corpora.jit_usage import Flow, usage_of
from benchmarks.first_sight import Row, entries_of, evidence_of, look_at, report
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import AssumptionSource, Property, Reason, Verdict, VerdictKind

CORPUS = Path(__file__).parents[1] / "corpus"


class Jitted:
    """What `usage_of` asks of a jitted function."""

    __module__ = "library"

    def __init__(self, text: str, **scope: object) -> None:
        self._tree = ast.parse(text)
        function = self._tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        self.arg_names = [each.arg for each in function.args.args]
        self._scope = scope

    def parse(self) -> ast.Module:
        return self._tree

    def get_capture_scope(self) -> dict[str, object]:
        return self._scope


HELPER = Jitted("""
def helper(base, size, FLAG):
    if FLAG:
        return tl.dot(tl.load(base + tl.arange(0, size)), 1)
""")
KERNEL = Jitted(
    """
def kernel(a, b, stride, count, BLOCK, HALF, MODE):
    start = tl.program_id(0) * stride
    here = start + a
    if MODE == "sum":
        tl.store(here, helper(b + start * count, BLOCK, HALF))
""",
    helper=HELPER,
)


def test_the_base_of_an_address_is_found_through_names_sums_and_calls() -> None:
    usage = usage_of(KERNEL, {})
    assert usage.pointers == {"a", "b"}
    assert usage.conditions == {"HALF"}
    assert usage.extents == {"BLOCK"}
    assert usage.texts == {"MODE": ["sum"]}
    assert usage.has_dot
    assert not usage.returns
    assert usage.called == {id(HELPER)}


def test_what_an_error_may_be_about_is_named_nearest_first() -> None:
    tree = KERNEL.parse().body[0]
    assert isinstance(tree, ast.FunctionDef)
    flow = Flow(tree, set(KERNEL.arg_names))
    (stored,) = (
        each for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == "tl.store"
    )
    found = flow.sources(stored)
    assert set(found) == {"a", "b", "stride", "count", "BLOCK", "HALF"}
    assert found.index("b") < found.index("a"), "a is behind the name `here`"


def verdict(kind: VerdictKind) -> Verdict:
    reason = Reason("the grid fills the device", -1, source=AssumptionSource.LAUNCH)
    return Verdict(Property.PHASE_SAFETY, kind, (reason,) if kind is VerdictKind.ASSUMES else ())


@pytest.mark.parametrize(
    ("kind", "complete", "expected"),
    [
        (VerdictKind.PROVED, True, "for all"),
        (VerdictKind.PROVED_BOUNDED, False, "bounded"),
        (VerdictKind.ASSUMES, True, "for all"),
        (VerdictKind.ASSUMES, False, "bounded"),
        (VerdictKind.UNKNOWN, True, "undecided"),
        (VerdictKind.VIOLATED, True, "counterexample"),
    ],
)
def test_what_holds_under_assumptions_holds_for_all_only_when_nothing_bounds_it(
    kind: VerdictKind, complete: bool, expected: str
) -> None:
    result = Verification(None)
    result.complete = complete
    assert evidence_of(verdict(kind), result) == expected


def row(half: str, evidence: list[str], seconds: float = 1.0, ptxas: float | None = 0.5) -> Row:
    given = dict(enumerate(evidence))
    named = {str(key): value for key, value in given.items()}
    return Row("file", "kernel", "package", half, "sm_90a", dict(named), dict(named), {}, 0.0, seconds, ptxas)


def test_shares_are_of_what_was_asked() -> None:
    rows = [
        row("seen", ["for all", "for all"]),
        row("seen", ["bounded", "undecided"], seconds=4.0),
        row("unread", []),
    ]
    table = report(rows).splitlines()
    assert table[-1].split(" | ")[:6] == [
        "| all", "2 / 3", "3 of 4 (75 %)", "1 of 2 (50 %)", "2 of 4 (50 %)", "1 of 2 (50 %)",
    ]  # fmt: skip
    assert table[-1].split(" | ")[6:8] == ["5.0", "8.0"]
    assert table[-2].startswith("| half `unread` | 0 / 1 |")


def test_a_kernel_is_in_one_half_whatever_its_target() -> None:
    names = [f"module:kernel_{index}" for index in range(200)]
    halves = [half_of("package", name) for name in names]
    assert 70 < halves.count("unread") < 130
    assert 70 < [target_of(name) for name in names].count(90) < 130
    assert half_of("package", "module:kernel_7") == half_of("package", "module:kernel_7")


PTX = """.version 9.0
.target sm_90a
.visible .entry {name}() {{
    {body}
    ret;
}}
"""


def test_a_manifest_has_each_text_once_and_no_file_without_asynchronous_work(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    bodies = {
        "one": "cp.async.wait_all;",
        "two": "cp.async.wait_all;",
        "three": "bar.sync 0;",
        "four": "wgmma.x;",
    }
    lines = []
    for name, body in bodies.items():
        (folder / f"{name}.ptx").write_text(PTX.format(name=name, body=body), encoding="utf-8")
        lines.append(json.dumps({"name": f"m:{name}", "target": 90, "unit": name, "warps": 4}))
    lines.append(json.dumps({"name": "m:five", "target": 90, "error": "refused"}))
    folder.with_suffix(".jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "versions.json").write_text('{"package": "1.0"}', encoding="utf-8")
    assert main(["manifest", "--out", str(tmp_path)]) == 0
    kernels: list[dict[str, Any]] = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))[
        "kernels"
    ]
    assert sorted(each["kernel"] for each in kernels) in (["m:four", "m:one"], ["m:four", "m:two"])
    assert {each["target"] for each in kernels} == {"sm_90a"}
    found = entries_of(tmp_path / "manifest.json")
    assert {each.half for each in found} <= {"seen", "unread"}
    assert all(each.file.is_file() for each in found)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
def test_a_kernel_is_asked_about_its_whole(tmp_path: Path) -> None:
    source = CORPUS / "protocols" / "cluster"
    chosen = min(source.glob("*.ptx"), key=lambda path: (path.stat().st_size, path.name))
    (tmp_path / chosen.name).write_bytes(chosen.read_bytes())
    (entry,) = entries_of(tmp_path)
    (found,) = look_at(entry, shutil.which("ptxas") or "")
    assert len(found.verdicts) == 6
    assert set(found.evidence) == set(found.verdicts)
    assert found.ptxas is not None
