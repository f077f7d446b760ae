"""Let a second solver confirm what verdicts rest on, kernel by kernel.

    python -m benchmarks.cross_check                                # the corpus, by cvc5 and by Bitwuzla
    python -m benchmarks.cross_check corpus mutants --solver cvc5   # other groups of `benchmarks.snapshot`
    python -m benchmarks.cross_check --out /tmp/found.jsonl         # with a line a kernel, as they come
    python -m benchmarks.cross_check --every 7                      # a sample: each seventh text

Each answer that something is impossible, of z3 or of bounds, is asked of the second solver again, by formulas of its
own (`ptxcheck.terms.smt.formulas`). An answer that it contradicts is a disagreement, and the exit code is 1. Answers
that it could not decide within its effort are counted: what rests on them is not confirmed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.corpora.store import default_root
from benchmarks.snapshot import ROOT, Unit, units
from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.source import Source
from ptxcheck.terms.refutations import SECOND_SOLVERS
from ptxcheck.verdict import Evidence

_COUNTS = ("confirmed", "undecided", "refuted")


def rows(solver: str, unit: Unit) -> list[dict[str, Any]]:
    """Return a line for each kernel of a text that was verified."""
    os.chdir(ROOT)
    text = unit.path.read_text(encoding="utf-8") if unit.text is None else unit.text
    is_file = unit.text is None and unit.path.suffix == ".cu"
    report = check(str(unit.path) if is_file else Source(unit.name, text), config=Config(cross_check=solver))
    found: list[dict[str, Any]] = []
    for kernel in report.kernels:
        table = kernel.verification
        if table is not None and table.cross_check is not None:
            row: dict[str, Any] = {
                "unit": unit.name,
                "kernel": kernel.name,
                "solver": solver,
                "verdict": table.kind.value,
            }
            row["shown"] = sum(
                each.evidence in (Evidence.FOR_ALL, Evidence.BOUNDED) for each in table.verdicts
            )
            found.append(row | {name: getattr(table.cross_check, name) for name in _COUNTS})
    return found


def summary(lines: Iterable[dict[str, Any]]) -> str:
    """Return what a second solver said of all kernels."""
    kernels: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for row in lines:
        answers.update({name: row[name] for name in _COUNTS})
        kernels["all"] += 1
        kernels["asked"] += any(row[name] for name in _COUNTS)
        kernels["disagreements"] += row["refuted"] > 0
        kernels["open"] += row["undecided"] > 0
    return (
        f"{kernels['all']} kernels, {kernels['asked']} of which rest on such answers; {answers['confirmed']} answers "
        f"confirmed, {answers['undecided']} not decided (in {kernels['open']} kernels), {answers['refuted']} "
        f"contradicted (in {kernels['disagreements']} kernels)"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask second solvers; return 1 where one contradicts an answer."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.cross_check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("groups", nargs="*", default=["corpus"])
    parser.add_argument("--solver", action="append", choices=SECOND_SOLVERS, default=[])
    parser.add_argument("--only", default="", help="texts whose name has this in it")
    parser.add_argument("--every", type=int, default=1, help="only each N-th text")
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    chosen = [
        each for group in options.groups for each in units(group, options.cache) if options.only in each.name
    ]
    chosen = chosen[:: options.every]
    found: list[dict[str, Any]] = []
    if options.out is not None:
        options.out.write_text("", encoding="utf-8")
    for solver in options.solver or SECOND_SOLVERS:
        asked: list[dict[str, Any]] = []
        with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=40) as pool:
            for each in pool.imap(partial(rows, solver), chosen, chunksize=4):
                asked += each
                if options.out is not None:
                    with options.out.open("a", encoding="utf-8") as stream:
                        stream.writelines(json.dumps(row) + "\n" for row in each)
        print(f"{solver}: {len(chosen)} texts, {summary(asked)}", flush=True)
        found += asked
    for row in found:
        if row["refuted"]:
            print(f"  {row['unit']} {row['kernel']}: {row['solver']} contradicts {row['refuted']} answers")
    return int(any(row["refuted"] for row in found))


if __name__ == "__main__":
    sys.exit(main())
