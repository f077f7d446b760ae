"""No limit in seconds shapes an answer: clocks are read where nothing is decided, and verdicts are the same bytes."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ptxcheck"
READS_A_CLOCK = {
    "commands/fix_progress.py": "how often a search is told of",
    "pipeline/rule_choice.py": "when an entry of the cache was written",
    "pipeline/work.py": "whether a file changed while it was checked",
    "repair/device.py": "how long a GPU is waited for",
    "runtime/cache.py": "how old entries of the cache are",
    "runtime/profile.py": "--profile",
    "terms/effort.py": "the brake, far behind the counted effort; a verdict that it ended says so",
}
KERNELS = (
    "good/roles_that_exclude_each_other.ptx",
    "protocols/ring/three_stages.consumer_stops_early.ptx",
    "protocols/ring/two_tiles.producer_starts_anew.ptx",
    "protocols/cluster/multicast_pair.ptx",
)
"""One whose proof rests on the solver, two that hang, and one with a proof for all sizes."""


_STOPPED, _RUNNING = 0.2, 0.05
"""Seconds."""
_FEW_STOPS = 10
"""With fewer of them the machine was not busy."""


def _clocks(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in ("time", "datetime", "timeit"))
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (str(node.module) for _ in node.names if node.module in ("time", "datetime", "timeit"))


def test_clocks_are_read_where_nothing_is_decided() -> None:
    found = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if any(_clocks(path))}
    assert found == set(READS_A_CLOCK)


def _started(seed: str, jobs: int) -> subprocess.Popen[bytes]:
    check = [sys.executable, "-m", "ptxcheck", "check", "--isolated", "--no-cache", "--format", "json"]
    return subprocess.Popen(
        [*check, "-j", str(jobs), *(f"corpus/{name}" for name in KERNELS)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _report(seed: str, jobs: int) -> bytes:
    process = _started(seed, jobs)
    out, errors = process.communicate()
    assert process.returncode == 1, errors
    return out


@pytest.fixture(scope="module")
def quiet() -> bytes:
    """What is said with one hash seed, by one process."""
    return _report("0", 1)


def test_the_report_has_verdicts_of_each_kind(quiet: bytes) -> None:
    text = quiet.decode()
    assert all(f'"verdict": "{kind}"' in text for kind in ("proved", "violated", "unknown"))


@pytest.mark.parametrize(("seed", "jobs"), [("1", 1), ("2", 3), ("4242", 2)])
def test_verdicts_are_the_same_bytes_with_any_hash_seed_and_number_of_processes(
    quiet: bytes, seed: str, jobs: int
) -> None:
    assert _report(seed, jobs) == quiet


def test_verdicts_are_the_same_bytes_on_a_busy_machine(quiet: bytes) -> None:
    """All processes of the check stand still for four fifths of the time, as where others use the processors."""
    process = _started("3", 2)
    with ThreadPoolExecutor() as pool:
        said = pool.submit(process.communicate)
        stops = 0
        while not said.done():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGSTOP)
                time.sleep(_STOPPED)
                os.killpg(process.pid, signal.SIGCONT)
            time.sleep(_RUNNING)
            stops += 1
    assert said.result()[0] == quiet
    assert stops > _FEW_STOPS
