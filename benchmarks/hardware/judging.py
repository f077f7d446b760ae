"""What the checker says of every entry, by its rules and by whole-kernel verification."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

from ptxcheck.verdict import SEVERITY

from .entries import Entry, Judged, read_manifest, write_judged


def judge_all(folder: Path, jobs: int) -> int:
    """Write `judged.json`; return the number of entries."""
    entries = read_manifest(folder)
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=50) as pool:
        found = list(pool.imap(_judged, [(folder, entry) for entry in entries]))
    write_judged(folder, found)
    return len(found)


def _judged(task: tuple[Path, Entry]) -> Judged:
    from ptxcheck import Source, check

    folder, entry = task
    report = check(Source(entry.image, (folder / entry.image).read_text(encoding="utf-8")))
    tables = [kernel.verification for kernel in report.kernels if kernel.verification is not None]
    kinds = {verdict.kind for table in tables for verdict in table.verdicts}
    worst = next((kind.value for kind in SEVERITY if kind in kinds), "")
    reasons: Iterator[str] = (
        f"{verdict.property.value}: {verdict.reasons[0].text}"
        for table in tables
        for verdict in table.verdicts
        if verdict.kind.value == "unknown" and verdict.reasons
    )
    problems = tuple(f"problem: {problem.message}" for problem in report.problems)
    return Judged(entry.name, worst, tuple(f.rule for f in report.active) + problems, next(reasons, ""))
