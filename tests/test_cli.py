from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import ptxcheck.rules
from ptxcheck import cli
from ptxcheck.opcodes.op import Op

from .fakes import KERNEL, crash, hits_at, rule

HEAVY = (
    "z3", "pysmt", "networkx", "numpy", "lark", "cuda", "sarif_om",
    "ptxcheck.rules", "ptxcheck.protocols", "ptxcheck.cfg",
)  # fmt: skip

RULES = (
    rule("XX001"),
    rule("XX002", hits_at(Op.BAR_SYNC), severity=ptxcheck.finding.Severity.SLOW, pedantic=True),
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ptxcheck.rules, "RULES", RULES)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    Path("k.ptx").write_text(KERNEL)


def run(*args: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli.main, args, input=text)


def test_exit_codes() -> None:
    assert run("check", "k.ptx").exit_code == 1
    assert run("check", "k.ptx", "--ignore", "XX").exit_code == 0
    assert run("check", "k.ptx", "--fail-on", "error").exit_code == 0
    assert run("check", "k.ptx", "--exit-zero").exit_code == 0
    assert run("check", "none.ptx", "--exit-zero").exit_code == 2
    assert run("check").exit_code == 2
    assert run("check", "k.ptx", "--format", "nope").exit_code == 2
    Path("k.ptx").write_text(KERNEL.replace("mbarrier.init.shared.b64", "frobnicate"))
    assert run("check", "k.ptx").exit_code == 0
    assert run("check", "k.ptx", "--strict").exit_code == 3


def test_standard_input_and_json() -> None:
    result = run("check", "-", "--format", "json", text=KERNEL)
    assert json.loads(result.stdout)["findings"][0]["location"]["file"] == "<stdin>"


def test_selection() -> None:
    assert "XX002" not in run("check", "k.ptx", "--format", "concise").stdout
    assert "XX002" in run("check", "k.ptx", "--format", "concise", "--pedantic").stdout
    assert "XX001" not in run("check", "k.ptx", "--format", "concise", "--select", "XX002,slow").stdout
    result = run("check", "k.ptx", "--select", "XX009")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean XX00" in result.stderr


def test_statistics() -> None:
    assert run("check", "k.ptx", "--statistics", "--pedantic").stdout == (
        "2  XX002  rule-xx002\n1  XX001  rule-xx001\n"
    )


def test_configuration_file_and_isolated() -> None:
    Path("ptxcheck.toml").write_text('ignore = ["XX001"]\n[launch]\n"*" = "block=64"')
    assert run("check", "k.ptx").exit_code == 0
    assert run("check", "k.ptx", "--isolated").exit_code == 1
    launch = json.loads(run("check", "k.ptx", "--format", "json").stdout)["kernels"][0]["launch"]
    assert launch["block"] == [64, 1, 1]
    given = run("check", "k.ptx", "--format", "json", "--launch", "block=32 cluster=2")
    assert json.loads(given.stdout)["kernels"][0]["launch"]["block"] == [32, 1, 1]
    Path("other.toml").write_text("slect = []")
    result = run("check", "k.ptx", "--config", "other.toml")
    assert result.exit_code == 2
    assert "did you mean `select`?" in result.stderr
    assert run("check", "k.ptx", "--launch", "nope").exit_code == 2


def test_output_replaces_a_file_whole() -> None:
    out = Path("out.txt")
    out.write_text("old")
    assert run("check", "k.ptx", "-o", "out.txt").exit_code == 1
    assert out.read_text().startswith("hang[XX001]")
    assert sorted(os.listdir()) == ["k.ptx", "out.txt"]


@pytest.mark.parametrize("target", ["no/such/folder/x", ".", "/dev/full"])
def test_output_that_cannot_be_written(target: str) -> None:
    result = run("check", "k.ptx", "-o", target)
    assert result.exit_code == 2
    assert f"cannot write {target}" in result.stderr


def test_explain_and_rules() -> None:
    for name in ("XX001", "xx001", "rule-xx001"):
        assert run("explain", name).stdout.startswith("XX001 rule-xx001 (hang)\n\nA summary.")
    assert "did you mean" in run("explain", "XX01").stderr
    assert "several rules" in run("explain", "XX").stderr
    assert run("rules").stdout == "XX001  hang  rule-xx001\nXX002  slow  rule-xx002  pedantic\n"
    assert [entry["id"] for entry in json.loads(run("rules", "--format", "json").stdout)] == [
        "XX001",
        "XX002",
    ]


def test_parse() -> None:
    assert "mbarrier.init.shared.b64 [bar], 128;" in run("parse", "k.ptx").stdout
    value = json.loads(run("parse", "k.ptx", "--dump", "json").stdout)
    assert value["node"] == "Module"
    dot = run("parse", "k.ptx", "--dump", "cfg").stdout
    assert dot.startswith('digraph "k" {')
    assert run("parse", "k.ptx", "--kernel", "zz").exit_code == 2
    assert run("parse", "none.ptx").exit_code == 2
    Path("bad.ptx").write_text(KERNEL.replace("bar.sync 0;", "bar.sync 0 ];"))
    result = run("parse", "bad.ptx")
    assert result.exit_code == 2
    assert result.stderr.startswith("bad.ptx:9:")


def test_failures_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxcheck.commands.check.check", crash)
    result = run("check", "k.ptx")
    assert result.exit_code == 2
    assert result.stderr.startswith("ptxcheck: internal error, please report it: ")


def test_interruption_is_not_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ptxcheck.commands.check.check", interrupted)
    assert run("check", "k.ptx").exit_code == 130


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("check", "k.ptx").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in run("check", "k.ptx").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("check", "k.ptx").stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom ptxcheck.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "ptxcheck", "check"]
    done = subprocess.run([*command, "none.ptx"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "none.ptx" in done.stdout
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert helped.stdout.startswith("Usage: ptxcheck check [OPTIONS] PATHS...")


def test_reader_that_goes_away() -> None:
    Path("many.ptx").write_text(KERNEL * 1)
    process = subprocess.Popen(
        [sys.executable, "-m", "ptxcheck", "rules"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_profile_goes_to_standard_error() -> None:
    result = run("check", "k.ptx", "--profile")
    assert result.stderr.splitlines()[-1].endswith(" s  total")
    assert result.stdout == run("check", "k.ptx").stdout


def test_cache_options() -> None:
    folder = Path(os.environ["PTXCHECK_CACHE_DIR"])
    run("check", "k.ptx", "--no-cache")
    assert not list(folder.glob("*/*"))
    run("check", "k.ptx")
    (entry,) = folder.glob("*/*")
    run("check", "k.ptx", "--clear-cache", "--no-cache")
    assert not entry.exists()
