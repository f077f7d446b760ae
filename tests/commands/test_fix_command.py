"""`ptxcheck fix` on several files: what it says meanwhile, leaves alone, and keeps when it is interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxcheck.cli import main
from ptxcheck.commands.fix_progress import Told
from ptxcheck.finding import Confidence, Finding, Location, Severity
from ptxcheck.repair.watch import Brake
from ptxcheck.source import Position, Span

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() .reqntid 128\n"
GOOD = HEAD + "{\n  bar.sync 1;\n  ret;\n}\n"
BAD = GOOD.replace("bar.sync 1;", "bar.sync 17;")
MEANT = BAD.replace("17;", "17; // ptxcheck: ignore[NB001, PT003] an experiment")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["fix", *words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.ptx": GOOD, "b.ptx": BAD, "c.ptx": MEANT}.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_folder_is_repaired() -> None:
    listed = run(".", "--unsafe")
    assert listed.exit_code == 0
    assert "b.ptx:6: NB001" in listed.stdout
    assert "a.ptx" not in listed.stdout
    assert listed.stdout.endswith("3 files; 1 with repairs\n")
    assert Path("b.ptx").read_text() == BAD
    assert run("a.ptx", "b.ptx", "--unsafe", "--in-place").exit_code == 0
    assert "bar.sync 15;" in Path("b.ptx").read_text()


@pytest.mark.usefixtures("folder")
def test_of_several_files_json_is_a_list() -> None:
    tables = json.loads(run(".", "--unsafe", "--format", "json").stdout)
    assert [(each["file"], len(each["repairs"])) for each in tables] == [
        ("./a.ptx", 0), ("./b.ptx", 1), ("./c.ptx", 0)
    ]  # fmt: skip
    assert len(json.loads(run("b.ptx", "--unsafe", "--format", "json").stdout)["repairs"]) == 1


@pytest.mark.usefixtures("folder")
def test_what_is_left_or_unreadable_is_told() -> None:
    left = run(".")
    assert (left.exit_code, left.stdout.splitlines()[-1]) == (
        1, "3 files; 0 with repairs; findings are left in ./b.ptx"
    )  # fmt: skip
    Path("d.ptx").write_text("garbage")
    assert run(".", "--unsafe").exit_code == 2
    assert run(".", "--output", "x").exit_code == 2
    assert run("nothing").exit_code == 2


@pytest.mark.usefixtures("folder")
def test_what_is_suppressed_is_left_alone() -> None:
    assert (run("c.ptx", "--unsafe").exit_code, run("c.ptx", "--unsafe").stdout) == (0, "nothing to repair\n")


@pytest.mark.usefixtures("folder")
def test_check_writes_what_is_safe_and_nothing_else() -> None:
    result = CliRunner().invoke(main, ["check", ".", "--fix"])
    assert result.exit_code == 1
    assert Path("b.ptx").read_text() == BAD  # nothing tells which number is meant


def _finding() -> Finding:
    place = Location(Position("k.ptx", 3, 1), Span(0, 1))
    return Finding("MB020", "n", Severity.HANG, Confidence.PROVED, "m", place)


def test_a_long_search_is_not_silent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    told = Told("k.ptx", lambda text: None, is_drawn=False)
    told.begins(_finding())
    told.tries(1, "at once")
    assert capsys.readouterr().err == ""
    now += 3
    told.tries(5, "wait for\nthe other parity")
    assert capsys.readouterr().err.splitlines() == [
        "k.ptx: MB020 at k.ptx:3:1: looking for a repair",
        "k.ptx: candidate 5: wait for the other parity",
    ]
    now += 3
    told.tries(6, "soon")
    assert capsys.readouterr().err == ""
    now += 8
    told.tries(7, "later")
    assert "candidate 7" in capsys.readouterr().err


def test_an_interrupt_keeps_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    kept: list[str] = []
    told = Told("k.ptx", kept.append, is_drawn=False)
    told.last_words()
    assert (kept, capsys.readouterr().err) == ([], "")
    told.keeps(_finding(), "expect 4 bytes", "text")
    told.last_words()
    assert kept == ["text"]
    assert "repaired before the interrupt: MB020 at k.ptx:3:1: expect 4 bytes" in capsys.readouterr().err


def test_a_brake_is_pulled_by_processor_time() -> None:
    assert not Brake().is_pulled()
    brake = Brake(0.0)
    while not brake.is_pulled():
        sum(range(1000))
    assert brake.was_pulled
