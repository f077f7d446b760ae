"""A folder of many small kernels: one process, several, an interruption, and what the cache gives back.

    python -m benchmarks.many_kernels [--files 10000] [--jobs 2]

The kernels are the examples of the rules, each under another name, so that no two files are equal. All times are wall
time of whole processes; only ratios mean anything.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
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
    return [sys.executable, "-m", "ptxcheck.cli", "check", str(root / "kernels"), "--format=json", *options]


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "PTXCHECK_CACHE_DIR": str(root / "results")}


def _run(root: Path, what: str, *options: str) -> str:
    started = time.monotonic()
    done = subprocess.run(_command(root, *options), env=_environment(root), capture_output=True, check=False)
    seconds = time.monotonic() - started
    assert done.returncode in (1, 2), done.stderr
    print(f"{what}: {seconds:.1f} s, {len(done.stdout) / 1e6:.1f} MB of JSON", flush=True)
    return hashlib.sha256(done.stdout).hexdigest()


def _interrupted(root: Path, jobs: str, share: float, files: int) -> None:
    """Start, and interrupt when a share of the files is done."""
    started = time.monotonic()
    process = subprocess.Popen(
        _command(root, jobs),
        env=_environment(root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and _kept(root) < share * files:
        time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    process.wait()
    print(f"interrupted: {time.monotonic() - started:.1f} s, {_kept(root)} of {files} files done", flush=True)


def _kept(root: Path) -> int:
    return sum(1 for _ in root.glob("results/??/*"))


if __name__ == "__main__":
    main()
