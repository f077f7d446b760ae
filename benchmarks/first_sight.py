"""First sight: the verdicts on kernels that nobody has read, one run each, with counted effort.

    python -m benchmarks.first_sight BLIND/manifest.json --out results.jsonl [--half unread] [--minutes 40]
    python -m benchmarks.first_sight FOLDER --out results.jsonl
    python -m benchmarks.first_sight --report results.jsonl

A manifest is what `python -m benchmarks.corpora.blind manifest` writes. Kernels come in the order of a hash of their
names, so that what `--minutes` of processor time leave undone is a fair sample; `--out` goes on where it was left.
One process. Nothing of a kernel is shown but its name, and reasons are counted for the half that may be read.

*Decided*: `proved`, `proved-bounded`, `assumes`, `violated`. *For all*: `proved`, or `assumes` of a kernel whose runs
are all that there are. Time is processor time of the verification alone, against `ptxas -O3` on the same file. A
kernel that the whole-kernel verification is not about has a row, and is no part of the shares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from benchmarks.corpora.process import run
from ptxcheck.cfg.inlining import kernels_of
from ptxcheck.explain.violations import concerns, whole_kernel
from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.verify import uses_barriers
from ptxcheck.runtime.collector import paused
from ptxcheck.source import Source
from ptxcheck.terms.effort import LEVELS
from ptxcheck.verdict import Property, Verdict, VerdictKind
from ptxcheck.view import KernelView

Item = TypeVar("Item")

ASKED = (
    Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY, Property.TX_BALANCE, Property.LIFECYCLE, Property.SLOT_SAFETY,
    Property.EXIT_SAFETY,
)  # fmt: skip
EVIDENCE = ("for all", "bounded", "counterexample", "undecided")
_PTXAS_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a manifest."""

    file: Path
    name: str
    package: str = ""
    half: str = ""
    cluster: tuple[int, int, int] | None = None


@dataclass(slots=True)
class Row:
    """What was said of one kernel."""

    file: str
    kernel: str
    package: str
    half: str
    target: str
    verdicts: dict[str, str] = field(default_factory=dict)
    """By property; empty: nothing was asked."""
    evidence: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """The first reason of each property that is not decided, without its place."""
    units: float = 0.0
    """Counted effort, in seconds of the machine that it was fitted on."""
    seconds: float = 0.0
    ptxas: float | None = None
    has_barriers: bool = False
    crash: str = ""


def evidence_of(verdict: Verdict, result: Verification) -> str:
    """How much a verdict speaks for."""
    if verdict.kind is VerdictKind.UNKNOWN:
        return "undecided"
    if verdict.kind is VerdictKind.VIOLATED:
        return "counterexample"
    if verdict.kind is VerdictKind.PROVED:
        return "for all"
    is_complete = verdict.kind is VerdictKind.ASSUMES and result.complete and not result.stops_early
    return "for all" if is_complete else "bounded"


def entries_of(path: Path) -> list[Entry]:
    """The files of a manifest, or of a folder, in the order of a hash of their names."""
    if path.is_dir():
        found = [Entry(each, each.stem, path.name) for each in path.rglob("*.ptx")]
    else:
        found = [
            Entry(
                path.parent / row["file"], row["file"], row["package"], row["half"],
                tuple(row["cluster"]) if row.get("cluster") else None,
            )
            for row in json.loads(path.read_text(encoding="utf-8"))["kernels"]
        ]  # fmt: skip
    return sorted(found, key=lambda each: hashlib.sha256(each.name.encode()).hexdigest())


def look_at(entry: Entry, ptxas: str | None) -> list[Row]:
    """Verify each kernel of a file once; without `ptxas`, nothing is assembled."""
    text = entry.file.read_text(encoding="utf-8", errors="replace")
    with paused():
        module = parse_module(Source(entry.name, text))
    target = next(iter(module.targets), "")
    assembled = None if ptxas is None else ptxas_seconds(entry.file, target, ptxas)
    rows: list[Row] = []
    for function in kernels_of(module):
        if function.body is None:
            continue
        row = Row(entry.name, function.name, entry.package, entry.half, target, ptxas=assembled)
        rows.append(row)
        launch, _ = launch_of(function, [])
        if entry.cluster is not None and launch.cluster is None:
            launch = replace(launch, cluster=entry.cluster)
        view = KernelView(module, function, launch, verify_seconds=LEVELS["normal"])
        if not concerns(view):
            continue
        row.has_barriers = uses_barriers(view.cfg)
        started = time.process_time()
        with paused():
            whole = view.get(whole_kernel)
        row.seconds = time.process_time() - started
        assert whole is not None
        result = whole.result
        row.crash = whole.failure
        row.units = result.seconds
        for verdict in whole.verdicts:
            if verdict.property in ASKED:
                name = verdict.property.value
                row.verdicts[name] = verdict.kind.value
                row.evidence[name] = evidence_of(verdict, result)
                if verdict.kind in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED) and verdict.reasons:
                    row.reasons[name] = verdict.reasons[0].text
    return rows


def ptxas_seconds(file: Path, target: str, ptxas: str) -> float | None:
    """Processor seconds of `ptxas -O3`; None when it refuses the file."""
    with tempfile.TemporaryDirectory() as folder:
        ran = run([ptxas, "-O3", f"-arch={target}", file, "-o", Path(folder) / "out"], timeout=_PTXAS_SECONDS)
    return ran.cpu_seconds if ran.ok else None


def rows_of(path: Path) -> list[Row]:
    """The rows that a file of results holds."""
    if not path.is_file():
        return []
    return [
        Row(**row)
        for line in path.read_text(encoding="utf-8").splitlines()
        for row in json.loads(line)["rows"]
    ]


def report(rows: Sequence[Row]) -> str:
    """The figures of each package and half, as a table."""
    lines = [
        "| kernels | asked / all | properties decided | kernels decided | properties for all | kernels for all | "
        "ratio, median | ratio, p95 | violated | crashes |",
        "| --- |" + " --- |" * 9,
    ]
    for package in sorted({row.package for row in rows}):
        lines.append(_line(package, [row for row in rows if row.package == package]))
    for half in sorted({row.half for row in rows} - {""}):
        lines.append(_line(f"half `{half}`", [row for row in rows if row.half == half]))
    lines.append(_line("all", rows))
    return "\n".join(lines)


def reasons(rows: Sequence[Row], most: int = 15) -> str:
    """How many kernels each reason keeps undecided."""
    counts: Counter[str] = Counter()
    for row in rows:
        shown = {reason for name, reason in row.reasons.items() if row.evidence[name] == "undecided"}
        counts.update({"".join("#" if c.isdigit() else c for c in reason)[:100] for reason in shown})
    return "\n".join(f"{count:5d}  {reason}" for reason, count in counts.most_common(most))


def _line(title: str, rows: Sequence[Row]) -> str:
    asked = [row for row in rows if row.verdicts]
    evidence = [each for row in asked for each in row.evidence.values()]
    ratios = sorted(row.seconds / row.ptxas for row in asked if row.ptxas)
    cells = [
        title,
        f"{len(asked)} / {len(rows)}",
        _share(evidence, lambda each: each != "undecided"),
        _share(asked, lambda row: "undecided" not in row.evidence.values()),
        _share(evidence, lambda each: each == "for all"),
        _share(asked, lambda row: set(row.evidence.values()) == {"for all"}),
        f"{statistics.median(ratios):.1f}" if ratios else "",
        f"{ratios[min(len(ratios) - 1, int(0.95 * len(ratios)))]:.1f}" if ratios else "",
        str(sum("counterexample" in row.evidence.values() for row in asked)),
        str(sum(bool(row.crash) for row in asked)),
    ]
    return "| " + " | ".join(cells) + " |"


def _share(items: Iterable[Item], holds: Callable[[Item], bool]) -> str:
    each = [holds(item) for item in items]
    return f"{sum(each)} of {len(each)} ({100 * sum(each) / len(each):.0f} %)" if each else ""


def main() -> None:
    """Look at each kernel once, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path, nargs="?", help="a manifest, or a folder of PTX")
    parser.add_argument("--out", type=Path, help="keeps rows as they come, and goes on from there")
    parser.add_argument("--half", choices=("seen", "unread"))
    parser.add_argument("--package", action="append", help="may be given more than once")
    parser.add_argument("--minutes", type=float, default=40.0, help="of processor time for all")
    parser.add_argument("--no-ptxas", action="store_true", help="do not time ptxas")
    parser.add_argument("--report", type=Path, help="results to print the figures of; nothing is run")
    options = parser.parse_args()
    if options.report is None:
        if options.corpus is None or options.out is None:
            parser.error("needs a manifest or a folder, and --out; or --report")
        ptxas = None if options.no_ptxas else shutil.which("ptxas")
        if ptxas is None and not options.no_ptxas:
            parser.error("no ptxas on PATH; give --no-ptxas to do without its time")
        entries = [
            each
            for each in entries_of(options.corpus)
            if options.half in (None, each.half) and (not options.package or each.package in options.package)
        ]
        _run(entries, options.out, options.minutes * 60, ptxas)
    rows = rows_of(options.report or options.out)
    print(report(rows))
    print(f"\nreasons, by kernels:\n{reasons([row for row in rows if row.half != 'unread'])}")


def _run(entries: Sequence[Entry], out: Path, seconds: float, ptxas: str | None) -> None:
    os.nice(5)
    done = {row.file for row in rows_of(out)}
    for entry in entries:
        if entry.name in done:
            continue
        if time.process_time() > seconds:
            print(f"{seconds / 60:.0f} minutes are over")
            break
        rows = look_at(entry, ptxas)
        with out.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"rows": [asdict(row) for row in rows]}) + "\n")
        for row in rows:
            states = Counter(row.evidence.values())
            print(f"{row.seconds:7.2f} s  {row.file}  {dict(states) or 'not asked'}", flush=True)


if __name__ == "__main__":
    main()
