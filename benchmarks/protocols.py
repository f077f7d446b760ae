"""Verdicts on whole kernels of the corpora that use mbarriers: decided, unknown or violated, and the time it takes.

    python -m benchmarks.protocols [--group triton] [--only attention] [--seconds 60] [--reasons] [--json FILE]
    python -m benchmarks.protocols --tensor-cores --seconds 10 --out ROWS.jsonl

`--out` keeps the rows of each file as they come, and goes on there when it is run again. The table of properties counts
kernels of each group and target; `--tensor-cores` leaves out those without wgmma or tcgen05.

Nothing that a library ships may come out violated, but for what `library_bugs.toml` shows to be broken. Time is
processor time of the verification alone, with the garbage collector paused as in `check`, beside that of `ptxas -O3` on
the whole file (`python -m benchmarks.corpora ptxas` measures it).
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import statistics
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.built_files import add_arguments, built_files, host_launch
from benchmarks.library_bugs import read_bugs
from ptxcheck.cfg import build
from ptxcheck.cfg.inlining import kernels_of
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.matrix_operands import TCGEN05, WGMMA
from ptxcheck.protocols.verify import uses_barriers, verify
from ptxcheck.runtime.collector import paused
from ptxcheck.source import Source
from ptxcheck.verdict import Evidence, Property, VerdictKind

_ALWAYS_ASKED = (
    Property.DEADLOCK_FREEDOM, Property.PHASE_SAFETY, Property.TX_BALANCE, Property.LIFECYCLE, Property.SLOT_SAFETY,
    Property.EXIT_SAFETY,
)  # fmt: skip
GROUPS = ("triton", "tilelang", "cutlass", "flashinfer", "cute_dsl", "cuda_ptx")
_DECIDED = frozenset({VerdictKind.PROVED.value, VerdictKind.PROVED_BOUNDED.value, VerdictKind.ASSUMES.value})


@dataclass(frozen=True, slots=True)
class Job:
    """One file to verify."""

    path: str
    key: str
    seconds: float
    accesses: bool
    tensor_cores: bool = False
    first: int | None = None
    """Only so many kernels of the file."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was found of one kernel."""

    file: str
    kernel: str
    shape: str
    verdicts: dict[str, str]
    reasons: dict[str, str]
    """Of each property that is not decided: the first reason, with its line."""
    runs: int
    seconds: float
    target: str = ""
    has_tensor_cores: bool = False
    for_all: bool = False
    """All six properties are known for all counts."""

    @property
    def state(self) -> str:
        """`violated` when any property is and no known bug, `unknown` when one is not decided, else `decided`."""
        kinds = {kind for name, kind in self.verdicts.items() if not self.is_decided(name)}
        if VerdictKind.VIOLATED.value in kinds:
            return "violated"
        return "unknown" if kinds else "decided"

    def is_known_bug(self, name: str) -> bool:
        """Tell whether a property is violated by a bug that is demonstrated."""
        if self.verdicts[name] != VerdictKind.VIOLATED.value:
            return False
        said = self.reasons.get(name, "")
        return any(
            fnmatchcase(self.file, bug.file) and name == bug.property and said.startswith(bug.reasons)
            for bug in read_bugs()
        )

    def is_decided(self, name: str) -> bool:
        """Tell whether a property has a good verdict, or what is demonstrated to be broken leaves it no meaning."""
        if self.verdicts[name] in _DECIDED or self.is_known_bug(name):
            return True
        follows = self.reasons.get(name, "").startswith("another property does not hold")
        return follows and any(map(self.is_known_bug, self.verdicts))


def main() -> None:
    """Verify the kernels and print the table."""
    options = _options()
    jobs = _jobs(options)
    rows, done = _kept(options.out)
    rows = [row for row in rows if row.file in {job.key for job in jobs}]
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=8) as pool:
        todo = [job for job in jobs if job.key not in done]
        for job, found in zip(todo, pool.imap(_verify_file, todo), strict=True):
            _keep(options.out, job, found)
            for row in found:
                rows.append(row)
                print(_line(row), flush=True)
    _summary(rows, _ptxas(options.cache))
    print("\n" + _table(rows))
    if options.reasons:
        _reasons(rows)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) | {"state": row.state} for row in rows], indent=1))
    if any(row.state == "violated" for row in rows):
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser, GROUPS)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for one kernel")
    parser.add_argument("--no-accesses", action="store_true", help="leave ordinary shared accesses out")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reasons", action="store_true", help="how often each reason for unknown occurs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tensor-cores", action="store_true", help="kernels with wgmma or tcgen05 alone")
    parser.add_argument("--out", type=Path, help="keeps rows as they come, and goes on from there")
    return parser.parse_args()


def _jobs(options: argparse.Namespace) -> list[Job]:
    accesses, tensor_cores = not options.no_accesses, options.tensor_cores
    return [
        Job(str(path), f"{group}/{path.stem}", options.seconds, accesses, tensor_cores, options.first)
        for group, path in built_files(options, GROUPS)
    ]


def _verify_file(job: Job) -> list[Row]:
    text = Path(job.path).read_text(encoding="utf-8", errors="replace")
    if "mbarrier" not in text:
        return []
    with paused():
        module = parse_module(Source(job.key, text))
    rows: list[Row] = []
    for function in kernels_of(module):
        if len(rows) == job.first:
            break
        if function.body is None:
            continue
        cfg = build(function)
        if not uses_barriers(cfg):
            continue
        has_tensor_cores = any(each.operation.op in WGMMA | TCGEN05 for each in cfg.instructions)
        if job.tensor_cores and not has_tensor_cores:
            continue
        launch = host_launch(function, job.key)
        started = time.process_time()
        try:
            with paused():
                result = verify(cfg, function, module, launch, seconds=job.seconds, accesses=job.accesses)
        except Exception as error:  # a table of all kernels is worth more than the first traceback
            where = traceback.extract_tb(error.__traceback__)[-1]
            note = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            unknown = dict.fromkeys((each.value for each in _ALWAYS_ASKED), "unknown")
            reasons = dict.fromkeys(unknown, f"crash: {note}")
            target = next(iter(module.targets), "")
            rows.append(Row(job.key, function.name, "", unknown, reasons, 0, 0.0, target, has_tensor_cores))
            continue
        shape = "" if result.shape is None else f"{result.shape.block}x{result.shape.cluster}"
        verdicts = result.verdicts()
        reasons = {}
        for verdict in verdicts:
            if verdict.kind.value not in _DECIDED:
                first = verdict.reasons[0]
                line = 0
                if first.point >= 0:
                    line = module.source.position(function.body.instructions[first.point].start).line
                reasons[verdict.property.value] = f"{first.text} @{line}"
        kinds = {verdict.property.value: verdict.kind.value for verdict in verdicts}
        seconds = time.process_time() - started
        target = next(iter(module.targets), "")
        rows.append(
            Row(
                job.key, function.name, shape, kinds, reasons, result.runs, seconds, target, has_tensor_cores,
                all(each.evidence is Evidence.FOR_ALL for each in verdicts if each.property in _ALWAYS_ASKED),
            )
        )  # fmt: skip
    return rows


def _kept(path: Path | None) -> tuple[list[Row], set[str]]:
    """Return the rows that an earlier run has kept, and the files that are done."""
    rows: list[Row] = []
    done: set[str] = set()
    if path is not None and path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            done.add(entry["file"])
            rows += [Row(**row) for row in entry["rows"]]
    return rows, done


def _keep(path: Path | None, job: Job, rows: Sequence[Row]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"file": job.key, "rows": [asdict(row) for row in rows]}) + "\n")


def _table(rows: Sequence[Row]) -> str:
    """Return how many kernels of each group and target are decided, a property a row."""
    columns = sorted({(row.file.split("/")[0], row.target) for row in rows})
    inside = {key: [row for row in rows if (row.file.split("/")[0], row.target) == key] for key in columns}
    lines = [
        "| | " + " | ".join(f"{group} {target}" for group, target in columns) + " |",
        "| --- |" + " --- |" * len(columns),
        "| kernels | " + " | ".join(str(len(inside[key])) for key in columns) + " |",
    ]
    for name in dict.fromkeys(name for row in rows for name in row.verdicts):
        cells = []
        for key in columns:
            asked = [row for row in inside[key] if name in row.verdicts]
            decided = sum(row.is_decided(name) for row in asked)
            cells.append(f"{decided} of {len(asked)} ({100 * decided / len(asked):.0f} %)" if asked else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    violated = [sum(row.state == "violated" for row in inside[key]) for key in columns]
    lines.append("| violated | " + " | ".join(map(str, violated)) + " |")
    return "\n".join(lines)


def _line(row: Row) -> str:
    kinds = " ".join(f"{name}={kind}" for name, kind in row.verdicts.items())
    if len(set(row.verdicts.values())) == 1:
        kinds = next(iter(row.verdicts.values()))
    text = f"{row.state:9} {row.seconds:7.2f} s {row.runs:4d} runs  {row.file} {row.kernel[:60]} {kinds}"
    shown = [f"    {name}: {reason[:200]}" for name, reason in row.reasons.items()]
    return "\n".join([text, *dict.fromkeys(shown)])


def _ptxas(cache: Path) -> dict[str, float]:
    """Return processor seconds of ptxas by file."""
    path = cache / "ptxas.json"
    if not path.is_file():
        return {}
    rows = json.loads(path.read_text())["rows"]
    return {key: row["cpu_s"] for key, row in rows.items() if row["accepted"]}


def _summary(rows: Sequence[Row], ptxas: dict[str, float]) -> None:
    states = collections.Counter(row.state for row in rows)
    total = max(len(rows), 1)
    print(
        f"\n{len(rows)} kernels:", ", ".join(f"{states[s]} {s}" for s in ("decided", "unknown", "violated"))
    )
    print(f"decided: {100 * states['decided'] / total:.1f} %")
    for_all = sum(row.for_all for row in rows if row.state == "decided")
    print(f"for all counts: {for_all} of {states['decided']} decided ones")
    for name in dict.fromkeys(name for row in rows for name in row.verdicts):
        kinds = collections.Counter(row.verdicts[name] for row in rows if name in row.verdicts)
        print(f"  {name}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    if rows:
        print(f"seconds of a kernel: median {statistics.median(row.seconds for row in rows):.2f}")
    files: dict[str, float] = collections.defaultdict(float)
    for row in rows:
        files[row.file] += row.seconds
    ratios = [seconds / ptxas[file] for file, seconds in files.items() if file in ptxas]
    if ratios:
        worst = max(files, key=lambda file: files[file] / ptxas.get(file, 1e9))
        print(
            f"against ptxas, {len(ratios)} files: median {statistics.median(ratios):.2f}, "
            f"most {max(ratios):.1f} ({worst})"
        )


def _reasons(rows: Sequence[Row]) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for row in rows:
        for reason in dict.fromkeys(row.reasons.values()):
            counts["".join("#" if c.isdigit() else c for c in reason.rsplit(" @", 1)[0])[:110]] += 1
    print("\nreasons, by number of kernels:")
    for reason, count in counts.most_common(40):
        print(f"{count:5d}  {reason}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
