"""`ptxcheck suppress`: comments that are written are understood, and change nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxcheck import cli
from ptxcheck.triage.write_suppressions import ignore_comment
from tests.fakes import HEADER

BAD = HEADER + ".visible .entry k()\n{\n  bar.sync 17;\n\tbar.sync 18;\n  ret;\n}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, arguments)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_written_suppresses(newline: str) -> None:
    path = Path("k.ptx")
    path.write_bytes(BAD.replace("\n", newline).encode())
    done = run("suppress", "k.ptx", "--reason", "old  code,\n to be removed")
    assert (done.exit_code, done.stderr) == (0, "4 suppressed in 1 files, 0 left\n")
    comment = "// ptxcheck: ignore[NB001, PT003] old code, to be removed"
    expected = BAD.replace("  bar", f"  {comment}\n  bar").replace("\tbar", f"\t{comment}\n\tbar")
    assert path.read_bytes().decode() == expected.replace("\n", newline)
    checked = run("check", "k.ptx")
    assert (checked.exit_code, "0 findings; 4 suppressed" in checked.stdout) == (0, True)
    assert "unused" not in checked.stdout
    assert run("suppress", "k.ptx", "--reason", "again").stderr.startswith("0 suppressed")


def test_a_diff_writes_nothing() -> None:
    Path("k.ptx").write_text(BAD)
    done = run("suppress", "k.ptx", "--reason", "why", "--diff", "--select", "NB001")
    assert "+  // ptxcheck: ignore[NB001] why\n" in done.stdout
    assert "PT003" not in done.stdout
    assert Path("k.ptx").read_text() == BAD


def test_a_reason_is_needed() -> None:
    Path("k.ptx").write_text(BAD)
    assert run("suppress", "k.ptx").exit_code == 2
    done = run("suppress", "k.ptx", "--reason", "  ")
    assert (done.exit_code, "needs a reason" in done.stderr) == (2, True)
    assert Path("k.ptx").read_text() == BAD


def test_what_cannot_be_checked_is_said() -> None:
    Path("k.ptx").write_text(BAD)
    done = run("suppress", "k.ptx", "no.ptx", "--reason", "why")
    assert (done.exit_code, "no such file" in done.stdout) == (2, True)


def test_sources_below_the_current_folder_are_changed(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    source = tmp_path / "theirs.cu"
    source.write_text("int x;\nint y;\n")
    located = BAD.replace("  bar.sync 17;", "  .loc 1 2 1\n  bar.sync 17;") + f'.file 1 "{source}"\n'
    (here / "k.ptx").write_text(located)
    done = CliRunner().invoke(cli.main, ["suppress", str(here / "k.ptx"), "--reason", "why"])
    assert done.exit_code == 0
    assert source.read_text() == "int x;\n// ptxcheck: ignore[NB001, PT003] why\nint y;\n"


def test_findings_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    source = tmp_path / "theirs.cu"
    source.write_text("int x;\nint y;\n")
    (here / "k.ptx").write_text(BAD.replace("  bar", "  .loc 1 2 1\n  bar") + f'.file 1 "{source}"\n')
    monkeypatch.chdir(here)
    done = run("suppress", "k.ptx", "--reason", "why")
    assert done.exit_code == 1
    assert "its file is not one of those that are checked" in done.stderr
    assert source.read_text() == "int x;\nint y;\n"


def test_no_comment_inside_a_macro() -> None:
    text = "#define M \\\n  call();\n  next();\n"
    assert ignore_comment(text, text.index("  call"), ["A1"], "why", python=False) is None
    found = ignore_comment(text, text.index("  next"), ["A1"], "why", python=False)
    assert found == "  // ptxcheck: ignore[A1] why\n"
    assert ignore_comment("x = 1", 0, ["A1"], "why", python=True) == "# ptxcheck: ignore[A1] why\n"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_cuda() -> None:
    kernel = Path(__file__).parents[2] / "corpus/bad/NB004/barrier_in_branch.cu"
    Path("k.cu").write_text(kernel.read_text())
    assert run("suppress", "k.cu", "--reason", "why").exit_code == 0
    assert run("check", "k.cu").exit_code == 0
    assert "    // ptxcheck: ignore[NB004] why\n    __syncthreads();" in Path("k.cu").read_text()
