"""Check every kernel of the built corpora: findings, notes, time and its ratio to `ptxas`.

    python -m benchmarks.library_kernels [--cache DIR] [--group cutlass] [--table OUT.md] [--jobs 2]
        [--verify-seconds 10]

Needs the corpora (`python -m benchmarks.corpora build`). Each file is checked in a process of its own, so that
time and peak memory are those of one `ptxcheck check`. Times of `ptxas -O3` come from `ptxas.json` beside the corpora,
measured on the same machine; only the ratio means anything.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.store import default_root
from ptxcheck.verdict import SEVERITY

_MEGABYTE = 1e6


@dataclass(frozen=True)
class Row:
    """What one file gave."""

    group: str
    name: str
    megabytes: float
    seconds: float
    parse_seconds: float
    memory_factor: float
    kernels: int
    findings: tuple[str, ...]
    problems: tuple[str, ...]
    opaque: int
    ptxas_seconds: float | None
    verdicts: tuple[tuple[str, int], ...]
    """How many kernels have which worst verdict."""


def main() -> int:
    """Run the campaign; return 1 when a library kernel has a finding or a problem."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--group", action="append")
    parser.add_argument("--match", default="")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verify-seconds", type=float, default=10.0, help="for each kernel; 0: rules alone")
    arguments = parser.parse_args()
    files = [
        path
        for path in sorted(arguments.cache.glob("ptx/*/*.ptx"))
        if (not arguments.group or path.parent.name in arguments.group) and arguments.match in path.name
    ]
    timings = _timings(arguments.cache)
    rows: list[Row] = []
    seconds = arguments.verify_seconds
    tasks = [(path, timings.get(str(path.relative_to(arguments.cache / "ptx"))), seconds) for path in files]
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for row in pool.imap(_check, tasks):
            rows.append(row)
            _say(row)
    _summary(rows)
    if arguments.table is not None:
        arguments.table.write_text(_table(rows), encoding="utf-8")
    return int(any(row.group != "cuda_ptx" and (row.findings or row.problems or row.opaque) for row in rows))


def _timings(cache: Path) -> dict[str, float]:
    path = cache / "ptxas.json"
    if not path.exists():
        return {}
    found: dict[str, float] = {}
    for name, entry in json.loads(path.read_text())["rows"].items():
        if entry.get("accepted") and entry.get("cpu_s"):
            found[name + ".ptx"] = float(entry["cpu_s"])
    return found


def _check(task: tuple[Path, float | None, float]) -> Row:
    path, ptxas_seconds, verify_seconds = task
    from ptxcheck.checker import check
    from ptxcheck.config import Config
    from ptxcheck.parser import parse_module
    from ptxcheck.source import Source

    text = path.read_text(encoding="ascii")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    module = parse_module(Source(str(path), text))
    parsed = time.process_time() - started
    opaque = sum(
        instruction.operation.problem is not None
        for function in module.functions
        if function.body is not None
        for instruction in function.body.instructions
    )
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    del module
    started = time.process_time()
    config = Config(verify=verify_seconds > 0, verify_seconds=verify_seconds or Config().verify_seconds)
    report = check(Source(str(path), text), config=config)
    seconds = time.process_time() - started
    verdicts = Counter(
        next(
            kind.value
            for kind in SEVERITY
            if kind in {verdict.kind for verdict in kernel.verification.verdicts}
        )
        for kernel in report.kernels
        if kernel.verification is not None
    )
    return Row(
        path.parent.name, path.name, len(text) / _MEGABYTE, seconds, parsed, memory / max(len(text), 1),
        len(report.kernels),
        tuple(f"{f.rule} line {f.location.ptx.line}: {f.message}" for f in report.findings),
        tuple(problem.message for problem in report.problems), opaque, ptxas_seconds, tuple(sorted(verdicts.items())),
    )  # fmt: skip


def _say(row: Row) -> None:
    ratio = "" if row.ptxas_seconds is None else f"{row.seconds / row.ptxas_seconds:5.2f}× ptxas"
    print(
        f"{row.group}/{row.name}: {row.megabytes:.2f} MB, parse {row.megabytes / row.parse_seconds:.1f} MB/s, "
        f"check {row.seconds:.2f} s {ratio}, {row.kernels} kernels, {len(row.findings)} findings, "
        f"{row.opaque} not in the table; {dict(row.verdicts)}"
    )
    for line in (*row.problems[:3], *row.findings[:8]):
        print("    " + line[:200])
    sys.stdout.flush()


def _summary(rows: list[Row]) -> None:
    ratios = [row.seconds / row.ptxas_seconds for row in rows if row.ptxas_seconds]
    rates = [row.megabytes / row.parse_seconds for row in rows if row.megabytes > 0.5]
    print(
        f"\nfiles {len(rows)}, kernels {sum(row.kernels for row in rows)}, {sum(r.megabytes for r in rows):.1f} MB"
    )
    for group in dict.fromkeys(row.group for row in rows):
        inside = [row for row in rows if row.group == group]
        rules = Counter(finding.split()[0] for row in inside for finding in row.findings)
        print(
            f"{group}: {len(inside)} files, findings {dict(rules)}, not in the table {sum(r.opaque for r in inside)}, "
            f"verdicts {dict(sum((Counter(dict(r.verdicts)) for r in inside), Counter()))}"
        )
    if ratios:
        print(f"check / ptxas: median {statistics.median(ratios):.2f}, worst {max(ratios):.2f}")
    if rates:
        print(
            f"parse: median {statistics.median(rates):.1f} MB/s, slowest {min(rates):.1f} MB/s (files over 0.5 MB)"
        )


def _table(rows: list[Row]) -> str:
    lines = [
        "| file | MB | parse MB/s | memory × file | check s | × ptxas | kernels | findings |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        ratio = "–" if row.ptxas_seconds is None else f"{row.seconds / row.ptxas_seconds:.2f}"
        lines.append(
            f"| {row.group}/{row.name} | {row.megabytes:.2f} | {row.megabytes / row.parse_seconds:.1f} "
            f"| {row.memory_factor:.0f} | {row.seconds:.2f} | {ratio} | {row.kernels} | {len(row.findings)} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
