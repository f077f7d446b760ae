"""What is decided of tensor cores without a run of the whole kernel: a property a row, a group and target a column.

    python -m benchmarks.tensor_cores [--group cutlass] [--only 77_fmha] [--first 2] [--reasons]

Counts kernels with `wgmma` or `tcgen05` of the built corpora (`python -m benchmarks.corpora build`) whose verdict is
`proved`, `proved-bounded` or `assumes`. Where a file does not state the block, that of its launch on the host is taken.
Nothing that a library ships may come out violated: exits with 1 then.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.built_files import add_arguments, built_files, host_launch
from ptxcheck.cfg.inlining import kernels_of
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.accumulators import accumulator_verdict
from ptxcheck.protocols.typestate.matrix_operands import TCGEN05, WGMMA
from ptxcheck.protocols.typestate.tensor_cores import tensor_core_verdicts
from ptxcheck.runtime.collector import paused
from ptxcheck.source import Source
from ptxcheck.verdict import Verdict, VerdictKind
from ptxcheck.view import KernelView

GROUPS = ("triton", "cutlass", "flashinfer")
_UNDECIDED = frozenset({VerdictKind.UNKNOWN, VerdictKind.VIOLATED})


@dataclass(frozen=True, slots=True)
class Row:
    """Verdicts on one kernel."""

    group: str
    file: str
    target: str
    view: KernelView
    verdicts: tuple[Verdict, ...]


def main() -> int:
    """Run the campaign; return 1 when a kernel is violated."""
    options = _options()
    counts: Counter[tuple[str, str, VerdictKind]] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    kernels: Counter[str] = Counter()
    started = time.process_time()
    for row in _rows(options):
        column = f"{row.group} {row.target}"
        kernels[column] += 1
        for verdict in row.verdicts:
            counts[verdict.property.value, column, verdict.kind] += 1
            if verdict.kind in _UNDECIDED:
                reason = verdict.reasons[0]
                line = _line(row.view, reason.point)
                reasons[verdict.property.value, reason.text] += 1
                name = f"{row.group}/{row.file}:{line} {row.view.function.name[:40]}"
                print(
                    f"{verdict.kind.value} {verdict.property.value}: {reason.text} ({name})", file=sys.stderr
                )
    print(_table(counts, kernels))
    print(f"\n{sum(kernels.values())} kernels, {time.process_time() - started:.0f} s of processor time")
    for (name, text), count in reasons.most_common() if options.reasons else ():
        print(f"{count:4d}  {name}: {text}")
    return int(any(kind is VerdictKind.VIOLATED for _, _, kind in counts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser, GROUPS)
    parser.add_argument("--reasons", action="store_true", help="how often each reason occurs")
    return parser.parse_args()


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for group, path in built_files(options, GROUPS):
        yield from _of_file(group, path, options.first)


def _of_file(group: str, path: Path, first: int | None) -> Iterator[Row]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if "wgmma." not in text and "tcgen05." not in text:
        return
    with paused():
        module = parse_module(Source(path.name, text))
    done = 0
    for function in kernels_of(module):
        if function.body is None or done == first:
            continue
        if not any(i.operation.op in WGMMA | TCGEN05 for i in function.body.instructions):
            continue
        done += 1
        view = KernelView(module, function, host_launch(function, path.name))
        accumulators = accumulator_verdict(view)
        verdicts = (*([accumulators] if accumulators else []), *tensor_core_verdicts(view))
        yield Row(group, path.stem, next(iter(module.targets), ""), view, verdicts)


def _line(view: KernelView, point: int) -> int:
    return 0 if point < 0 else view.module.source.position(view.body.instructions[point].start).line


def _table(counts: Counter[tuple[str, str, VerdictKind]], kernels: Counter[str]) -> str:
    columns = sorted(kernels)
    lines = [
        "| | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
        "| kernels | " + " | ".join(str(kernels[column]) for column in columns) + " |",
    ]
    for name in sorted({name for name, _, _ in counts}):
        cells = []
        for column in columns:
            asked = sum(counts[name, column, kind] for kind in VerdictKind)
            decided = sum(counts[name, column, kind] for kind in VerdictKind if kind not in _UNDECIDED)
            cells.append(f"{decided} of {asked} ({100 * decided / asked:.0f} %)" if asked else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
