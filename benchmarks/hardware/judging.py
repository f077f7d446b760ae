"""What the checker says of every entry, by its rules and by whole-kernel verification."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ptxcheck.verdict import SEVERITY

from .entries import Entry, Judged, read_judged, read_manifest


def judge_all(folder: Path, jobs: int, seconds: float) -> tuple[int, int]:
    """Add to `judged.jsonl` what is not there until the time is up; return how many were judged, and are left."""
    known = read_judged(folder)
    tasks = [(folder, entry) for entry in read_manifest(folder) if entry.name not in known]
    end = time.monotonic() + seconds
    count = 0
    with (folder / "judged.jsonl").open("a", encoding="utf-8") as stream:
        for judged in _each(tasks, jobs):
            stream.write(json.dumps(asdict(judged)) + "\n")
            stream.flush()
            count += 1
            if time.monotonic() > end:
                break
    return count, len(tasks) - count


def _each(tasks: list[tuple[Path, Entry]], jobs: int) -> Iterator[Judged]:
    if jobs == 1:
        yield from map(_judged, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=50) as pool:
        yield from pool.imap(_judged, tasks)


def _judged(task: tuple[Path, Entry]) -> Judged:
    from ptxcheck import Config, Source, check
    from ptxcheck.launches.hints import parse_assumption

    folder, entry = task
    config = Config(launch=tuple(map(parse_assumption, entry.assumptions)))
    report = check(Source(entry.image, (folder / entry.image).read_text(encoding="utf-8")), config=config)
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
