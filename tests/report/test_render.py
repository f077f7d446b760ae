from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Confidence, Severity
from ptxcheck.opcodes.op import Op
from ptxcheck.report import Format, render
from ptxcheck.results import Report
from ptxcheck.rules import Hit

from .. import fakes

DATA = Path(__file__).parent / "data"

KERNEL = (
    fakes.KERNEL.replace("  bar.sync 0;\n", "  frobnicate.b32 %r1;\n", 1)
    .replace(
        "  ret;", "  bar.sync 0 0 ];\n  trap; // ptxcheck: ignore[XX003] a [link](http://x) | 100%\n  ret;"
    )
    .replace("entry k()", "entry _ZN2ns4kernEv()")
)


def related(view: Any) -> Any:
    yield Hit(0, "init\x1b[31m of [bar](http://evil)\nsecond % line", ((1, "and \u202ethis"),))


@pytest.fixture(scope="module")
def report() -> Report:
    rules = (
        fakes.rule("XX001", related),
        fakes.rule("XX002", fakes.hits_at(Op.BAR_SYNC, "sync"), severity=Severity.SLOW),
        fakes.rule("XX003", fakes.hits_at(Op.TRAP, "trap"), severity=Severity.NOTE),
        fakes.rule("XX004", fakes.possible, confidence=Confidence.POSSIBLE),
        fakes.rule("XX005", fakes.crash),
    )
    config = Config(possible=True)
    made = ptxcheck.check(fakes.source(KERNEL, "dir/a b,c:k.ptx"), rules=rules, config=config)
    assert len(made.findings) == 4
    assert len(made.problems) == 2
    return made


@pytest.fixture(scope="module")
def located(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("src")
    (folder / "a.cu").write_text("\n" * 9 + "\tinit(&bar, 128);\n")
    text = fakes.LOCATED.replace("{cu}", str(folder / "a.cu"))
    config = Config(source_roots=(str(folder),), verify=False)
    return ptxcheck.check(fakes.source(text), rules=(fakes.rule(),), config=config)


@pytest.mark.parametrize("form", list(Format))
def test_bytes_are_deterministic_and_harmless(report: Report, form: Format) -> None:
    text = render(report, form)
    assert text == render(report, form)
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert "\u202e" not in text
    text.encode("utf-8")


@pytest.mark.parametrize("form", list(Format))
def test_empty_report(form: Format) -> None:
    assert render(Report(), form)


def test_text(located: Report) -> None:
    cu = located.findings[0].location.primary.file
    assert render(located, Format.TEXT) == (
        "hang[XX001] rule-xx001: init here\n"
        f"  --> {cu}:10:3\n"
        "10 | \tinit(&bar, 128);\n"
        "   | \t ^\n"
        "   =   in ns::twice at /usr/local/cuda-13.0/include/cccl/cuda/barrier.h:5:7\n"
        f"   = here kern at {cu}:10:3\n"
        "   = kernel: kern\n"
        "   = why: The kernel hangs. [PTX ISA §9.7.13]\n"
        "   = help: Do it the other way.\n"
        "\n"
        "checked 1 kernel in 1 file; 1 finding (1 hang)\n"
    )


def test_text_without_the_source_shows_the_ptx_line() -> None:
    report = ptxcheck.check(fakes.source(fakes.LOCATED), rules=(fakes.rule(),))
    lines = render(report, Format.TEXT).splitlines()
    assert lines[1:5] == [
        "  --> {cu}:10:3",
        "  --> k.ptx:9:3",
        "9 |   mbarrier.init.shared.b64 [bar], 128;",
        "  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    ]


def test_text_of_everything(report: Report) -> None:
    text = render(report, Format.TEXT)
    assert "error[syntax]" in text
    assert "error[tool] rule XX005 failed" in text
    assert "possible hang[XX004]" in text
    assert "init\\u001b[31m of" in text
    assert (
        "1 suppressed; 2 problems; 1 kernel NOT verified: ns::kern "
        "(the kernel cannot be assembled: unexpected '0' in 'bar.sync 0 0 ];')" in text
    )
    assert "XX003" not in text


def test_colours_are_only_added(report: Report) -> None:
    import click

    colored = render(report, Format.TEXT, color=True)
    assert "\x1b[31m" in colored
    assert click.unstyle(colored) == render(report, Format.TEXT)


def test_long_lines_are_cut() -> None:
    long = fakes.KERNEL.replace("  mbarrier", " " * 5000 + "mbarrier").replace("128;", "128;" + " " * 5000)
    report = ptxcheck.check(fakes.source(long), rules=(fakes.rule(),))
    lines = render(report, Format.TEXT).splitlines()
    assert max(map(len, lines)) < 200
    assert lines[3].index("^") == lines[2].index("mbarrier")


def test_concise(report: Report) -> None:
    lines = render(report, Format.CONCISE).splitlines()
    assert all(line.startswith("dir/a b,c:k.ptx:") for line in lines[:-1])
    assert "dir/a b,c:k.ptx:8:3: possible hang[XX004] perhaps" in lines or any("XX004" in x for x in lines)


def test_github(report: Report) -> None:
    lines = render(report, Format.GITHUB).splitlines()
    assert lines[0].startswith("::error file=dir/a b%2Cc%3Ak.ptx,line=")
    assert any(line.startswith("::warning ") and "XX002" in line for line in lines)
    assert any("second %25 line" in line for line in lines)
    assert not any("XX003" in line for line in lines)


def test_json(report: Report) -> None:
    value = json.loads(render(report, Format.JSON))
    assert value["schema"] == 1
    assert value["summary"] == {
        "findings": 3, "suppressed": 1, "baselined": 0, "problems": 2, "kernels": 1, "incomplete": 1,
    }  # fmt: skip
    assert [finding["rule"] for finding in value["findings"] if finding["suppressed"]] == ["XX003"]
    assert value["kernels"][0]["complete"] is False


def sarif(report: Report) -> dict[str, Any]:
    schema = json.loads((DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    value: dict[str, Any] = json.loads(render(report, Format.SARIF))
    jsonschema.Draft7Validator(schema).validate(value)
    return value


def test_sarif_is_valid(report: Report, located: Report) -> None:
    for made in (report, located, Report()):
        assert sarif(made)["version"] == "2.1.0"


def test_sarif_results(report: Report) -> None:
    (run,) = sarif(report)["runs"]
    results = {result["ruleId"]: result for result in run["results"]}
    assert {rule: result["level"] for rule, result in results.items()} == {
        "XX001": "error", "XX002": "warning", "XX003": "note", "XX004": "warning",
    }  # fmt: skip
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == rule for rule, result in results.items())
    assert "```diff" in rules[0]["help"]["markdown"]
    assert results["XX001"]["suppressions"] == []
    assert results["XX003"]["suppressions"][0]["kind"] == "inSource"
    assert results["XX001"]["partialFingerprints"]["ptxcheck/v1"]
    assert "\\[bar\\]" in results["XX001"]["message"]["text"]
    location = results["XX001"]["locations"][0]
    assert location["logicalLocations"][0]["name"] == "ns::kern"
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "dir/a%20b%2Cc%3Ak.ptx"
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_inline_chain(located: Report) -> None:
    (run,) = sarif(located)["runs"]
    (result,) = run["results"]
    texts = [place["message"]["text"] for place in result["relatedLocations"]]
    assert texts == ["in ns::twice", "in kern", "in the PTX"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 10, "startColumn": 3}
