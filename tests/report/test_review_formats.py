"""SARIF, GitLab and JUnit, read back by the tools of others."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ptxcheck
from ptxcheck.finding import Severity
from ptxcheck.opcodes.op import Op
from ptxcheck.report import Format, render
from ptxcheck.report.relative import Root, renamed
from ptxcheck.results import Report

from .. import fakes

BAD = fakes.KERNEL.replace("bar.sync 0;", "bar.sync 0 ];", 1)
RULES = (
    fakes.rule("XX001"),
    fakes.rule("XX002", fakes.hits_at(Op.BAR_SYNC, "sync \x1b <&>"), severity=Severity.SLOW),
    fakes.rule("XX003", fakes.hits_at(Op.BAR_SYNC, "again")),
)
SUPPRESSED = fakes.KERNEL.replace("k()", "m()").replace("128;", "128;  // ptxcheck: ignore[XX001] on purpose")


@pytest.fixture(scope="module")
def report() -> Report:
    sources = [
        fakes.source(fakes.KERNEL, "dir/a.ptx"),
        fakes.source(BAD.replace("k()", "l()"), "dir/b.ptx"),
        fakes.source(SUPPRESSED, "c.ptx"),
        fakes.source(fakes.HEADER, "empty.ptx"),
    ]
    made = ptxcheck.check([*sources, "none.ptx"], rules=RULES)
    known = made.active[0]
    return replace(made, findings=tuple(replace(f, baselined=f == known) for f in made.findings))


def test_junit(report: Report) -> None:
    junit = pytest.importorskip("junitparser")
    suites = list(junit.JUnitXml.fromstring(render(report, Format.JUNIT).encode()))
    assert [suite.name for suite in suites] == ["dir/a.ptx", "dir/b.ptx", "c.ptx", "empty.ptx", "none.ptx"]
    assert sum(suite.failures for suite in suites) == len(report.active)
    assert sum(suite.errors for suite in suites) == len(report.problems) == 2
    cases = {(suite.name, case.name): case for suite in suites for case in suite}
    assert list(cases) == [
        ("dir/a.ptx", "k"), ("dir/b.ptx", "l"), ("c.ptx", "m"), ("empty.ptx", "file"), ("none.ptx", "file"),
    ]  # fmt: skip
    assert cases["empty.ptx", "file"].is_passed
    assert "suppressed: on purpose" in cases["c.ptx", "m"].system_out
    known = report.baselined[0]
    assert f"{known.rule} {known.name}" in (cases[known.location.ptx.file, known.kernel].system_out or "")


def test_json_lines(report: Report) -> None:
    values = [json.loads(line) for line in render(report, Format.JSON_LINES).splitlines()]
    kinds = [value.pop("type") for value in values]
    expected = ["problem"] * 2 + ["finding"] * len(report.active) + ["note"] * len(report.notes)
    assert kinds == [*expected, "summary"]
    whole = json.loads(render(report, Format.JSON))
    listed = [each for each in whole["findings"] if each["suppressed"] is None and not each["baselined"]]
    assert values == [*whole["problems"], *listed, *whole["notes"], whole["summary"]]


_AZURE = re.compile(
    r"##vso\[task\.logissue type=(?P<type>error|warning);sourcepath=(?P<path>[^;\]]+)"
    r"(?:;linenumber=(?P<line>\d+))?(?:;columnnumber=(?P<column>\d+))?;code=(?P<code>[^;\]]+)\](?P<text>.*)"
)


def test_azure(report: Report) -> None:
    *lines, _ = render(report, Format.AZURE).splitlines()
    found = [_AZURE.fullmatch(line) for line in lines]
    assert all(found)
    issues = [match.groupdict() for match in found if match is not None]
    assert len(issues) == len(report.active) + len(report.problems)
    slow = {issue["type"] for issue in issues if issue["code"] == "XX002"}
    assert slow == {"warning"}
    assert {issue["type"] for issue in issues if issue["code"] != "XX002"} == {"error"}
    assert any(issue["text"] == "rule-xx003: again" for issue in issues)


def test_azure_cannot_be_given_commands() -> None:
    evil = "x];code=1]##vso[task.setvariable]%0A\n##vso[task.complete]"
    rule = fakes.rule("XX001", fakes.hits_at(Op.MBARRIER_INIT, evil))
    text = render(ptxcheck.check(fakes.source(), rules=(rule,)), Format.AZURE)
    assert [line.startswith("##vso") for line in text.splitlines()] == [True, False]
    assert text.count("##vso[task.logissue") == text.count("]") == 1
    assert "%AZP250A" in text


def test_rdjson(report: Report) -> None:
    value = json.loads(render(report, Format.RDJSON))
    assert value["source"] == {"name": "ptxcheck"}
    diagnostics = value["diagnostics"]
    assert len(diagnostics) == len(report.active) + len(report.problems)
    for each, finding in zip(diagnostics[len(report.problems) :], report.active, strict=True):
        place = finding.location.primary
        assert each["location"]["path"] == place.file
        assert each["location"]["range"]["start"] == {"line": place.line, "column": place.column}
        assert each["severity"] in ("ERROR", "WARNING", "INFO")
        assert each["code"] == {"value": finding.rule}
        assert each["message"].startswith(finding.name)
    assert {each["code"]["value"] for each in diagnostics[: len(report.problems)]} == {"input", "syntax"}
    missing = next(each for each in diagnostics if each["location"]["path"] == "none.ptx")
    assert "range" not in missing["location"]


def test_gitlab(report: Report) -> None:
    issues = json.loads(render(report, Format.GITLAB))
    assert len(issues) == len(report.active) + len(report.problems)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
    assert "none.ptx" in {issue["location"]["path"] for issue in issues if issue["severity"] == "blocker"}


def sarif_tool(*args: str) -> str:
    code = "import sys; from sarif.cmdline.main import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return done.stdout


def test_sarif_tools_read_it_back(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("sarif")
    path = tmp_path / "report.sarif"
    path.write_text(render(report, Format.SARIF))
    output = tmp_path / "report.csv"
    sarif_tool("csv", "--output", str(output), str(path))
    with output.open(newline="") as stream:
        rows = [(row["Code"], row["Location"], int(row["Line"])) for row in csv.DictReader(stream)]
    places = [(finding.rule, finding.location.primary) for finding in report.findings]
    assert sorted(rows) == sorted((rule, place.file, place.line) for rule, place in places)
    assert "XX001" in sarif_tool("summary", str(path))


def fingerprints(text: str) -> dict[str, set[str]]:
    log: Any = json.loads(render(ptxcheck.check(fakes.source(text), rules=RULES), Format.SARIF))
    found: dict[str, set[str]] = {}
    for result in log["runs"][0]["results"]:
        found.setdefault(result["ruleId"], set()).update(result["partialFingerprints"].values())
    return found


def test_fingerprints_survive_moved_lines() -> None:
    moved = "// comment\n\n\n" + fakes.KERNEL.replace("  ret;", "\n\n  ret;").replace(
        "[bar], 128;", "[bar],  128; // now"
    )
    assert fingerprints(moved) == fingerprints(fakes.KERNEL)
    assert fingerprints(fakes.KERNEL.replace("128", "64"))["XX001"] != fingerprints(fakes.KERNEL)["XX001"]


def test_baselined_findings_are_suppressed_outside_the_source(report: Report) -> None:
    log = json.loads(render(report, Format.SARIF))
    kinds = [s["kind"] for result in log["runs"][0]["results"] for s in result["suppressions"]]
    assert sorted(kinds) == ["external", "inSource"]
    assert "uri" not in log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]


def test_paths_from_the_root(report: Report) -> None:
    moved = renamed(report, Root("/repo", "/repo/kernels"))
    assert moved.inputs[0] == "kernels/dir/a.ptx"
    assert {finding.location.ptx.file for finding in moved.findings} <= set(moved.inputs)
    assert {kernel.position.file for kernel in moved.kernels} <= set(moved.inputs)
    assert [f.message for f in moved.findings] == [f.message for f in report.findings]
    assert all(file.startswith("kernels/") for file, _ in moved.lines)
    assert moved.rules == report.rules
    names = Root("/repo", "/repo/kernels")
    assert [names(name) for name in ("../up.ptx", "/repo/x", "/other/x", "../../y", "<stdin>")] == [
        "up.ptx", "x", "/other/x", "../../y", "<stdin>",
    ]  # fmt: skip
