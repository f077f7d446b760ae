"""A folder of many small kernels: one process, several, an interruption, and what the cache gives back.

    python -m benchmarks.many_kernels [--files 10000] [--jobs 2]

The kernels are the examples of the rules, each under another name, so that no two files are equal. Times are
processor time, of all processes and of the busiest: on a machine with nothing else to do, that is how long it takes.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ptxcheck.rules import RULES


def main() -> None:
    """Make the folder, run, print a line for each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--serial", action="store_true", help="also run all of it in one process")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root / "kernels", arguments.files)
        jobs = f"--jobs={arguments.jobs}"
        digests = set()
        if arguments.serial:
            digests.add(_run(root, "one process, no cache", "--no-cache"))
        _interrupted(root, jobs, share=0.4, files=arguments.files)
        digests.add(_run(root, "the rest, after an interruption", jobs))
        digests.add(_run(root, "again, from the cache", jobs))
        print("reports equal:", len(digests) == 1)


def _write(folder: Path, count: int) -> None:
    folder.mkdir()
    examples = [text for rule in RULES for text in (rule.bad, rule.good)]
    for number in range(count):
        text = examples[number % len(examples)]
        folder.joinpath(f"k{number:05}.ptx").write_text(f"// kernel {number}\n{text}", encoding="ascii")


def _command(root: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "ptxcheck", "check", str(root / "kernels"), "--format=json", *options]


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "PTXCHECK_CACHE_DIR": str(root / "results")}


def _run(root: Path, what: str, *options: str) -> str:
    """Run to the end and return the digest of the report."""
    output = root / "report.json"
    with output.open("wb") as stream:
        process = subprocess.Popen(
            _command(root, *options), env=_environment(root), stdout=stream, start_new_session=True
        )
        _say(what, *_watched(process))
    assert process.returncode in (1, 2)
    return hashlib.sha256(output.read_bytes()).hexdigest()


def _interrupted(root: Path, jobs: str, share: float, files: int) -> None:
    """Start, and interrupt when a share of the files is done."""
    process = subprocess.Popen(
        _command(root, jobs),
        env=_environment(root),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    used = _watched(process, lambda: _kept(root) >= share * files)
    _say(f"interrupted when {_kept(root)} of {files} files were done", *used)
    assert process.returncode == 130, process.returncode


def _watched(process: subprocess.Popen[bytes], enough: Callable[[], bool] = lambda: False) -> list[float]:
    """Wait for a process, interrupted when it has done enough; return the processor time of each of its session."""
    used: dict[str, float] = {}
    tick = os.sysconf("SC_CLK_TCK")
    looked = 0
    while process.poll() is None:
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[3]) == process.pid:
                    used[path.parent.name] = (int(fields[11]) + int(fields[12])) / tick
        looked += 1
        if looked % 20 == 0 and enough():
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
        time.sleep(0.1)
    return sorted(used.values(), reverse=True)


def _say(what: str, *used: float) -> None:
    print(
        f"{what}: {sum(used):.1f} s of processor time, {max(used):.1f} s of the busiest process", flush=True
    )


def _kept(root: Path) -> int:
    return sum(1 for _ in root.glob("results/??/*"))


if __name__ == "__main__":
    main()
