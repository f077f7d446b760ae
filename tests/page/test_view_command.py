"""`ptxcheck view` from the command line: exit codes, bad input, output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxcheck import cli
from tests.fakes import HEADER

from .kernels import HANGS, PAIR

PLAIN = HEADER + ".visible .entry plain()\n{\n  ret;\n}\n"


def view(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["view", "--isolated", *arguments])


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.ptx"
    path.write_text(PLAIN)
    return path


def test_exit_codes_are_those_of_check(tmp_path: Path, plain: Path) -> None:
    out = str(tmp_path / "report.html")
    assert view(str(PAIR), "-o", out).exit_code == 0
    found = view(str(HANGS), "-o", out)
    assert found.exit_code == 1
    assert found.stdout.startswith(f"{out}: checked 1 kernel in 1 file; 1 finding (1 hang)")
    assert view(str(HANGS), "-o", out, "--exit-zero").exit_code == 0
    unknown = plain.with_name("unknown.ptx")
    unknown.write_text(HANGS.read_text().replace("ptxcheck: launch", "").replace("%tid.x", "%tid.y"))
    assert view(str(unknown), "-o", out).exit_code == 0
    assert view(str(unknown), "-o", out, "--strict").exit_code == 3


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    """In every process, whatever the order of its sets."""
    for seed in ("1", "2"):
        command = [
            sys.executable,
            "-m",
            "ptxcheck",
            "view",
            "--isolated",
            str(PAIR),
            "-o",
            f"{seed}.html",
        ]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_a_file_with_mistakes_has_a_page_and_exit_code_2(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ptx"
    bad.write_text(PLAIN.replace("ret;", "mov.u32 %%%;\n  ret;"))
    done = view(str(bad), "-o", str(tmp_path / "report.html"))
    assert done.exit_code == 2
    assert "bad.ptx:6" in done.stderr
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.ptx", b"", "there is no kernel to show"),
        ("header.ptx", HEADER.encode(), "there is no kernel to show"),
        ("garbage.ptx", bytes(range(256)) * 40, "garbage.ptx"),
    ],
)
def test_bad_input(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = view(str(path), "-o", str(tmp_path / "report.html"))
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "report.html").exists()


def test_missing_files_folders_and_kernels(tmp_path: Path, plain: Path) -> None:
    out = tmp_path / "report.html"
    (tmp_path / "loop.ptx").symlink_to("loop.ptx")
    for arguments, said in [
        ((str(tmp_path / "none.ptx"),), "none.ptx"),
        ((str(tmp_path / "loop.ptx"),), "loop.ptx"),
        ((str(plain.parent / "*.ptx"), "--kernel", "other"), "name one file"),
        ((str(plain), "--kernel", "other"), "no kernel is called other; there are: plain"),
    ]:
        (tmp_path / "second.ptx").write_text(PLAIN)
        done = view(*arguments, "-o", str(out))
        assert done.exit_code == 2, arguments
        assert said in done.stderr
        assert not out.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file(tmp_path: Path, plain: Path) -> None:
    plain.chmod(0)
    done = view(str(plain), "-o", str(tmp_path / "report.html"))
    assert done.exit_code == 2
    assert "plain.ptx" in done.stderr


def test_unwritable_output_leaves_what_was_there(tmp_path: Path, plain: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    done = view(str(plain), "-o", str(folder))
    assert done.exit_code == 2
    assert f"cannot write {folder}" in done.stderr
    done = view(str(plain), "-o", str(tmp_path / "no" / "such" / "report.html"))
    assert done.exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "plain.ptx"]


def test_the_output_is_named(plain: Path) -> None:
    done = view(str(plain))
    assert done.exit_code == 2
    assert "--output" in done.output


def test_hostile_file_names(tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>&.ptx"
    path.write_text(PLAIN)
    assert view(str(path), "-o", str(tmp_path / "report.html")).exit_code == 0
    assert "<img src=x" not in (tmp_path / "report.html").read_text()


def test_options_reach_the_check(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(HANGS.read_text().replace("ptxcheck: launch", ""))
    out = str(tmp_path / "report.html")
    unknown = view(str(path), "-o", out)
    assert "nothing states the block" in Path(out).read_text()
    assert "1 violated" in unknown.stdout
    told = view(str(path), "-o", out, "--launch", "block=64")
    assert "1 hang" in told.stdout
    wrong = view(str(path), "-o", out, "--launch", "blocks=64")
    assert wrong.exit_code == 2
