from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

import ptxcheck
from ptxcheck.results import ProblemKind
from ptxcheck.runtime.cache import Cache
from ptxcheck.runtime.executors import Processes, Serial
from tests.fakes import KERNEL, hear_interrupts
from tests.limits import WALL_SECONDS

T = TypeVar("T")
R = TypeVar("R")


def work(item: int) -> str:
    """Square a number; some numbers are deadly."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if item == 5:
        os._exit(7)
    if item == 7:
        raise ValueError("seven")
    return str(item * item)


def lost(item: int, why: str) -> str:
    return f"lost {item}: {why}"


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_item_has_its_result(jobs: int) -> None:
    assert dict(Processes(jobs).run(work, [0, 1, 2, 4, 6], lost)) == dict(
        Serial().run(work, [0, 1, 2, 4, 6], lost)
    )


def test_lost_processes_lose_only_their_item() -> None:
    results = dict(Processes(2).run(work, range(10), lost))
    assert sorted(results) == list(range(10))
    assert results[3] == "lost 3: it was ended by SIGKILL: out of memory?"
    assert results[5] == "lost 5: it ended with exit code 7"
    assert results[7] == "lost 7: ValueError: seven"
    assert [results[n] for n in (0, 1, 2, 4, 6, 8, 9)] == ["0", "1", "4", "16", "36", "64", "81"]


def test_nothing_to_do() -> None:
    assert list(Processes(2).run(work, [], lost)) == []


class Deadly:
    """Processes in which the input of one name is deadly."""

    def run(
        self, task: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R]
    ) -> Iterator[tuple[int, R]]:
        return Processes(2).run(partial(die_on_name, task), items, lost)


def die_on_name(task: Callable[[T], R], item: T) -> R:
    if getattr(item, "name", "") == "b.ptx":
        os.kill(os.getpid(), signal.SIGKILL)
    return task(item)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    names = ["a.ptx", "b.ptx", "c.ptx", "d.ptx"]
    for name in names:
        Path(name).write_text(KERNEL.replace("k()", name[0] + "()"))
    return names


def test_a_lost_process_is_a_located_problem(files: list[str], tmp_path: Path) -> None:
    cache = Cache(tmp_path / "results")
    report = ptxcheck.check(files, executor=Deadly(), cache=cache)
    (problem,) = report.problems
    assert (problem.kind, problem.position.file) == (ProblemKind.TOOL, "b.ptx")
    assert "SIGKILL" in problem.message
    assert [kernel.name for kernel in report.kernels] == ["a", "c", "d"]
    again = ptxcheck.check(files, cache=cache)
    assert [kernel.name for kernel in again.kernels] == ["a", "b", "c", "d"]


def command(*args: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "ptxcheck", "check", ".", *args], capture_output=True, check=False
    )
    assert done.stderr == b""
    return done.stdout


def test_same_bytes_in_one_process_and_in_several(files: list[str]) -> None:
    Path("bad.ptx").write_bytes(b"\x7fELF\0")
    Path("odd.ptx").write_text(KERNEL.replace("bar.sync 0;", "bar.sync 0 ];"))
    for form in ("json", "sarif", "text"):
        one = command("--no-cache", "--format", form)
        assert command("--no-cache", "--format", form, "--jobs", "3") == one
        assert command("--format", form, "--jobs", "2") == one
        assert command("--format", form) == one


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(1200):
        Path(f"k{number:04}.ptx").write_text(KERNEL.replace("k()", f"k{number}()"))
    results = Path(os.environ["PTXCHECK_CACHE_DIR"])
    process = subprocess.Popen(
        [sys.executable, "-m", "ptxcheck", "check", ".", "-j2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    deadline = time.monotonic() + WALL_SECONDS
    while len(list(results.glob("*/*"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=WALL_SECONDS)
    assert (process.returncode, errors) == (130, b"ptxcheck: interrupted\n")
    kept = {path: path.stat().st_ino for path in results.glob("??/*") if not path.name.startswith(".new")}
    assert 5 <= len(kept) < 1200
    command()
    assert len(list(results.glob("??/*"))) >= 1200
    assert {path: path.stat().st_ino for path in kept} == kept


def test_standard_input_with_several_processes(files: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptxcheck", "check", "-", "a.ptx", "-j2", "--format", "json"],
        input=KERNEL.encode(),
        capture_output=True,
        check=False,
    )
    assert [kernel["file"] for kernel in json.loads(done.stdout)["kernels"]] == ["<stdin>", "a.ptx"]


def test_a_temporary_folder_with_too_long_a_path_is_said(files: list[str], tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 110)
    deep.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "ptxcheck", "check", *files, "-j2", "--no-cache"],
        env={**os.environ, "TMPDIR": str(deep)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "use --jobs 1, or a TMPDIR with a shorter path" in done.stderr
