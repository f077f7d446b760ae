"""Whole-kernel verification from the outside: options, configuration, comments, drawings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import ptxcheck
from ptxcheck import cli
from ptxcheck.config import Config, load_config
from ptxcheck.launches.hints import parse_assumption, parse_hint
from ptxcheck.results import ProblemKind, Report
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Source

WRONG = changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;"))
CONTRACT = changed(
    RING,
    (".param .u32 tiles)", ".param .u32 tiles, .param .u32 bytes)"),
    ("    mov.u32 %r2, full;", "    ld.param.u32 %r15, [bytes];\n    mov.u32 %r2, full;"),
    ("_, [%r8], 1024;", "_, [%r8], %r15;"),
)
"""The bytes to expect are a parameter: the host must pass 1024."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PTXCHECK_CACHE_DIR", str(tmp_path / "cache"))
    Path("good.ptx").write_text(RING)
    Path("wrong.ptx").write_text(WRONG)
    Path("contract.ptx").write_text(CONTRACT)


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.main, args)


def check(text: str, *assumptions: str, **settings: object) -> Report:
    hints = tuple(parse_assumption(each) for each in assumptions)
    return ptxcheck.check(Source("k.ptx", text), config=Config(launch=hints, **settings))  # type: ignore[arg-type]


def verdict(report: Report) -> str:
    table = report.kernels[0].verification
    assert table is not None
    return table.kind.value


def test_verification_is_on_by_default_and_can_be_turned_off() -> None:
    assert run("check", "wrong.ptx").exit_code == 1
    result = run("check", "wrong.ptx", "--no-verify")
    assert result.exit_code == 0
    assert "verified" not in result.stdout
    Path("ptxcheck.toml").write_text("verify = false")
    assert run("check", "wrong.ptx").exit_code == 0
    assert run("check", "wrong.ptx", "--verify").exit_code == 1


def test_good_ring_holds() -> None:
    report = check(RING)
    assert report.active == ()
    assert report.incomplete == ()
    assert verdict(report) in ("proved", "proved-bounded")


def test_too_little_time_is_unknown_and_not_kept() -> None:
    for _ in range(2):
        result = run("check", "good.ptx", "--verify-seconds", "0.000001", "--strict", "--format", "concise")
        assert result.exit_code == 3
        assert "more work than the effort allows" in result.stdout
    assert run("check", "good.ptx", "--strict").exit_code == 0
    assert run("check", "good.ptx", "--verify-seconds", "0").exit_code == 2


def test_equation_of_the_contract() -> None:
    report = check(CONTRACT)
    assert verdict(report) == "assumes"
    table = report.kernels[0].verification
    assert table is not None
    assert table.equations == ("bytes == 1024",)


@pytest.mark.parametrize("place", ["bytes", "param+12", "bytes.u32"])
def test_given_values_are_checked_against_the_contract(place: str) -> None:
    right = check(CONTRACT, f"{place}=1024")
    assert verdict(right) in ("proved", "proved-bounded")
    assert right.active == ()
    table = right.kernels[0].verification
    assert table is not None
    assert table.given == (f"{place}=1024",)
    wrong = check(CONTRACT, f"{place}=2048")
    assert [finding.rule for finding in wrong.active] == ["TX001"]
    assert verdict(wrong) == "violated"


def test_values_from_comments_and_configuration() -> None:
    text = CONTRACT.replace(".visible", "// ptxcheck: launch param+12=2048\n.visible")
    assert [finding.rule for finding in check(text).active] == ["TX001"]
    Path("ptxcheck.toml").write_text("[launch]\nkernel = { assume = { bytes = 2048 } }")
    config = load_config(Path("ptxcheck.toml"))
    report = ptxcheck.check("contract.ptx", config=config)
    assert [finding.rule for finding in report.active] == ["TX001"]


def test_value_of_no_parameter_is_a_problem() -> None:
    (problem,) = check(CONTRACT, "nothing=1").problems
    assert problem.kind is ProblemKind.SETTING
    assert problem.message == "no kernel that was checked has a parameter nothing"
    result = run("check", "contract.ptx", "--assume", "nothing=1")
    assert result.exit_code == 2
    assert run("check", "contract.ptx", "--assume", "rubbish").exit_code == 2


def test_unknown_block_size_is_said() -> None:
    report = check(RING.replace(".reqntid 64", ""))
    assert verdict(report) == "assumes"
    table = report.kernels[0].verification
    assert table is not None
    assert table.block_origin == "the code"
    given = ptxcheck.check(
        Source("k.ptx", RING.replace(".reqntid 64", "")),
        config=Config(launch=(parse_hint("block=64", "--launch"),)),
    )
    assert verdict(given) in ("proved", "proved-bounded")


def test_a_failure_of_the_verifier_is_a_problem_and_rules_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptxcheck.explain import violations as whole_kernel

    def crash(*_args: object, **_options: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(whole_kernel, "verify", crash)
    report = check(changed(RING, ("[full], 1;", "[full], 0;")))
    (problem,) = report.problems
    assert problem.kind is ProblemKind.TOOL
    assert problem.detail.startswith("ZeroDivisionError: by hand at ")
    assert [finding.rule for finding in report.active] == ["MB001"]
    assert verdict(report) == "unknown"


def test_results_with_verdicts_can_be_kept() -> None:
    first = run("check", "wrong.ptx", "--format", "json")
    assert json.loads(first.stdout)["findings"][0]["counterexample"] is not None
    assert run("check", "wrong.ptx", "--format", "json").stdout == first.stdout


def test_show() -> None:
    graph = run("show", "protocol", "good.ptx")
    assert graph.exit_code == 0
    assert graph.stdout.startswith('digraph "kernel, block 64×1×1')
    written = run("show", "protocol", "good.ptx", "--format", "graphml")
    assert ElementTree.fromstring(written.stdout).tag == "{http://graphml.graphdrawing.org/xmlns}graphml"
    lines = run("show", "timeline", "good.ptx", "--kernel", "kernel").stdout.splitlines()
    assert lines[1] == "A  producer (warp 0, lane 0)"
    picture = run("show", "timeline", "good.ptx", "--format", "svg")
    assert ElementTree.fromstring(picture.stdout).tag == "{http://www.w3.org/2000/svg}svg"
    assert run("show", "timeline", "good.ptx", "-o", "run.svg", "--format", "svg").exit_code == 0
    assert Path("run.svg").read_text() == picture.stdout
    automata = run("show", "automaton", "good.ptx")
    assert automata.exit_code == 0
    assert automata.stdout.startswith('digraph "kernel, block 64×1×1')
    assert "holds for every" in automata.stdout.splitlines()[0]
    one = run("show", "automaton", "good.ptx", "--format", "graphml")
    assert ElementTree.fromstring(one.stdout).tag == "{http://graphml.graphdrawing.org/xmlns}graphml"
    wrong = run("show", "timeline", "wrong.ptx").stdout
    assert wrong.rstrip().splitlines()[-1].partition("  [")[0].endswith(": for ever")


def test_show_says_what_it_cannot_show() -> None:
    assert (
        "no kernel is called nope; there are: kernel"
        in run("show", "protocol", "good.ptx", "--kernel", "nope").stderr
    )
    assert run("show", "protocol", "none.ptx").exit_code == 2
    Path("plain.ptx").write_text(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"
    )
    result = run("show", "protocol", "plain.ptx")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no kernel uses barriers" in result.stderr
    assert "no kernel uses barriers" in run("show", "automaton", "plain.ptx").stderr
    Path("two.ptx").write_text(RING + RING[RING.index(".visible") :].replace("entry kernel", "entry other"))
    assert run("show", "timeline", "two.ptx", "--format", "svg").exit_code == 2
    assert run("show", "timeline", "two.ptx", "--format", "svg", "--kernel", "other").exit_code == 0


def test_linting_alone_starts_no_solver() -> None:
    code = (
        "import sys, ptxcheck; from ptxcheck.config import Config;"
        "ptxcheck.check('good.ptx', config=Config(verify=False));"
        "print([m for m in ('z3', 'pysmt') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
