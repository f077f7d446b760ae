"""A local Dask cluster gives the same report, also when a worker is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

import ptxcheck
from ptxcheck.runtime.executors import Dask, ExecutorError, executor_at

from .fakes import KERNEL
from .limits import WALL_SECONDS

T = TypeVar("T")
R = TypeVar("R")


def test_addresses() -> None:
    assert executor_at("dask://h:1") == Dask("tcp://h:1")
    for bad in ("h:1", "dask:h", "ray://h:1", "dask://"):
        with pytest.raises(ExecutorError, match="is no executor"):
            executor_at(bad)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExecutorError, match=r"pip install 'ptxcheck\[distributed\]'"):
        list(Dask("tcp://127.0.0.1:1").run(str, [1], lambda item, why: why))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start a scheduler and two workers, processes that restart, in a process of their own."""
    pytest.importorskip("distributed")
    script = (
        "import sys\nfrom distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("tcp://")
    yield address.removeprefix("tcp://")
    process.communicate("", timeout=WALL_SECONDS)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    names = ["a.ptx", "b.ptx", "c.ptx"]
    for name in names:
        Path(name).write_text(KERNEL.replace("k()", name[0] + "()"))
    Path("d.ptx").write_bytes(b"\x7fELF\0")
    return names


def test_the_same_bytes(cluster: str, files: list[str]) -> None:
    command = [sys.executable, "-m", "ptxcheck", "check", ".", "--no-cache", "--format", "json"]
    alone = subprocess.run(command, capture_output=True, check=False)
    there = subprocess.run([*command, "--executor", f"dask://{cluster}"], capture_output=True, check=False)
    assert there.returncode == alone.returncode == 2
    assert there.stdout == alone.stdout
    assert len(json.loads(there.stdout)["kernels"]) == 3


class DeadlyDask:
    """A cluster on which the input of one name kills its worker, the first time or each time."""

    def __init__(self, address: str, once: Path | None) -> None:
        self.inner = Dask(address)
        self.once = once

    def run(
        self, task: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R]
    ) -> Iterator[tuple[int, R]]:
        return self.inner.run(partial(die_on_b, self.once, task), items, lost)


def die_on_b(once: Path | None, task: Callable[[T], R], item: T) -> R:
    if getattr(item, "name", "") == "b.ptx" and (once is None or not once.exists()):
        if once is not None:
            once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task(item)


def test_a_lost_worker_is_survived(cluster: str, files: list[str], tmp_path: Path) -> None:
    report = ptxcheck.check(files, executor=DeadlyDask(f"tcp://{cluster}", tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    assert report == ptxcheck.check(files)


def test_a_deadly_file_loses_only_itself(cluster: str, files: list[str]) -> None:
    report = ptxcheck.check(files, executor=DeadlyDask(f"tcp://{cluster}", None))
    assert [problem.position.file for problem in report.problems] == ["b.ptx"]
    assert "KilledWorker" in report.problems[0].message
    assert [kernel.name for kernel in report.kernels] == ["a", "c"]


def test_nobody_answers(files: list[str]) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ExecutorError, match="no Dask scheduler answers"):
        ptxcheck.check(files, executor=Dask("tcp://127.0.0.1:9"))
