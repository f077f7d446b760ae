"""Processor time of `ptxcheck check` beside `ptxas -O3` in one run, parsing speed, memory.

    python -m benchmarks.speed [--cache DIR] [--group cutlass] [--match gemm] [--largest 6]

Every figure is of a process of its own, start-up included, except the speed of parsing, which is measured warm.
`ptxas` runs beside it each time: on a shared machine only the ratio means anything.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora.store import default_root

_TARGET = re.compile(r"^\.target\s+(\w+)", re.MULTILINE)
_CHECK = "import sys; from ptxcheck.checker import check; check(sys.argv[1])"
_PARSE = """
import json, resource, sys, time
from ptxcheck.runtime.collector import paused
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
text = open(sys.argv[1], encoding="ascii").read()
parse_module(Source("warm", ".version 9.0\\n.target sm_90\\n.visible .entry k() { .reg .b32 %r<2>; }"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with paused():
    started = time.process_time()
    module = parse_module(Source("text", text))
    seconds = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([len(text) / 1e6 / seconds, (peak - before) * 1024 / len(text)]))
"""


class Row(NamedTuple):
    """Figures of one file."""

    name: str
    megabytes: float
    rate: float
    memory: float
    check: float
    ptxas: float | None


def main() -> None:
    """Measure the files of the built corpora and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--group", action="append")
    parser.add_argument("--match", default="")
    parser.add_argument("--largest", type=float, default=6, help="megabytes of the largest file to measure")
    arguments = parser.parse_args()
    groups = arguments.group or ["cutlass"]
    paths = [path for group in groups for path in sorted(arguments.cache.glob(f"ptx/{group}/*.ptx"))]
    print("| file | MB | parse MB/s | memory × file | check s | ptxas s | ratio |\n|" + " --- |" * 7)
    rows: list[Row] = []
    for path in paths:
        if arguments.match in path.name and path.stat().st_size <= arguments.largest * 1e6:
            rows.append(_measured(path))
            print(_line(rows[-1]), flush=True)
    ratios = [row.check / row.ptxas for row in rows if row.ptxas]
    if ratios:
        print(f"\ncheck / ptxas: median {statistics.median(ratios):.2f}, worst {max(ratios):.2f}")
    if rows:
        print(f"parse: slowest {min(row.rate for row in rows):.1f} MB/s; "
              f"memory: at most {max(row.memory for row in rows):.0f} × the file")  # fmt: skip


def _measured(path: Path) -> Row:
    parsed = subprocess.run([sys.executable, "-c", _PARSE, str(path)], capture_output=True, check=True)
    rate, memory = json.loads(parsed.stdout)
    check = _seconds([sys.executable, "-c", _CHECK, str(path)])
    assert check is not None, f"the check of {path} failed"
    with path.open(encoding="ascii") as file:
        target = _TARGET.search(file.read(4096))
    ptxas = shutil.which("ptxas")
    compiler = None
    if ptxas and target:
        compiler = _seconds([ptxas, "-O3", "-arch", target[1], str(path), "-o", os.devnull])
    return Row(f"{path.parent.name}/{path.stem}", path.stat().st_size / 1e6, rate, memory, check, compiler)


def _seconds(command: list[str]) -> float | None:
    """Return the processor time of a command, None when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used if done.returncode == 0 else None


def _line(row: Row) -> str:
    compiler = "–" if row.ptxas is None else f"{row.ptxas:.2f}"
    ratio = "–" if row.ptxas is None else f"{row.check / row.ptxas:.2f}"
    return (
        f"| {row.name} | {row.megabytes:.2f} | {row.rate:.1f} | {row.memory:.1f} "
        f"| {row.check:.2f} | {compiler} | {ratio} |"
    )


if __name__ == "__main__":
    main()
