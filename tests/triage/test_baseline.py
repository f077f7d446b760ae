from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import ptxcheck.rules
from ptxcheck import cli
from tests.fakes import KERNEL, rule

MOVED = "// a line\n\n" + KERNEL.replace("  bar.sync 0;\n", "\n  bar.sync 0;\n\n")
"""The same kernel with every line elsewhere."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ptxcheck.rules, "RULES", (rule(),))
    Path("src").mkdir()
    Path("src/k.ptx").write_text(KERNEL)
    assert run("baseline", "write", "src").exit_code == 0


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.main, args)


def check(*args: str) -> Result:
    return run("check", *args, "--format", "json")


def test_what_is_known_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check("src").exit_code == 1
    result = check("src", "--baseline", "ptxcheck-baseline.json")
    assert result.exit_code == 0
    value = json.loads(result.stdout)
    assert value["summary"]["baselined"] == 1
    assert [finding["baselined"] for finding in value["findings"]] == [True]
    assert "XX001" not in run("check", "src", "--baseline", "ptxcheck-baseline.json").stdout
    os.chdir("src")
    assert check("k.ptx", "--baseline", "../ptxcheck-baseline.json").exit_code == 0


def test_lines_may_move() -> None:
    Path("src/k.ptx").write_text(MOVED)
    assert check("src", "--baseline", "ptxcheck-baseline.json").exit_code == 0


def test_a_second_one_is_new() -> None:
    again = KERNEL.replace("  bar.sync 0;\n", "  mbarrier.init.shared.b64 [bar], 128;\n", 1)
    Path("src/k.ptx").write_text(again)
    value = json.loads(check("src", "--baseline", "ptxcheck-baseline.json").stdout)
    assert sorted(finding["baselined"] for finding in value["findings"]) == [False, True]


def test_a_copy_in_another_file_is_new() -> None:
    Path("src/copy.ptx").write_text(KERNEL)
    assert check("src", "--baseline", "ptxcheck-baseline.json").exit_code == 1


def test_what_is_gone_is_noted() -> None:
    Path("src/other.ptx").write_text(KERNEL.replace("k()", "l()"))
    run("baseline", "write", "src")
    Path("src/k.ptx").write_text(KERNEL.replace("mbarrier.init.shared.b64 [bar], 128;", ""))
    result = run("check", "src", "--baseline", "ptxcheck-baseline.json")
    assert "1 of its findings are gone" in result.stdout
    result = run("check", "src/other.ptx", "--baseline", "ptxcheck-baseline.json")
    assert "gone" not in result.stdout


def test_suppressed_findings_are_not_written() -> None:
    suppressed = KERNEL.replace("128;", "128; // ptxcheck: ignore[XX001] on purpose")
    Path("src/k.ptx").write_text(suppressed)
    run("baseline", "write", "src", "-o", "base.json")
    assert json.loads(Path("base.json").read_text())["findings"] == []


def test_a_problem_cannot_be_in_a_baseline() -> None:
    Path("src/bad.ptx").write_text("")
    result = run("baseline", "write", "src", "-o", "base.json")
    assert (result.exit_code, Path("base.json").exists()) == (2, False)
    assert "src/bad.ptx" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a baseline of this version"),
        ('{"schema": 1}', "`findings` is not a list"),
        ('{"schema": 1, "findings": [{"file": "k.ptx"}]}', "lacks its `fingerprint`"),
        (None, "cannot be read: No such file"),
    ],
)
def test_broken_baselines(text: str | None, message: str) -> None:
    if text is not None:
        Path("bad.json").write_text(text)
    result = check("src", "--baseline", "bad.json")
    assert result.exit_code == 2
    assert result.stderr.startswith("ptxcheck: bad.json: ")
    assert message in result.stderr
