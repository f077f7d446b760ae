"""Repaired and optimised kernels × what the GPU said."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from ptxcheck.repair.outcome import Outcome
from ptxcheck.repair.sanitizer import Tool

from .run_trials import Line, read_lines
from .trials import Trial, read_trials

_BY_KERNEL = frozenset({"repair", "schedule"})
"""Kinds with a row for each kernel."""
_EACH = frozenset({"optimise", "schedule"})
"""Kinds of which every time is told."""
_HEAD = (
    "| | trials | run | right | restored to the word | operators | time against the original: median | half of them "
    "between | slowest |\n"
    + "| --- " * 9
    + "|"
)  # fmt: skip


def show_trials(folder: Path, results: Path) -> str:
    """Return the tables, and every trial that is not right or slower than 1.02 times, as Markdown."""
    trials = read_trials(folder)
    lines = {(line.name, line.step): line for line in read_lines(results)}
    rows = [_HEAD]
    for kind in ("correct", "repair", "optimise", "schedule"):
        chosen = [trial for trial in trials if trial.kind == kind]
        rows.append(_row(f"**{kind}**", chosen, lines))
        for harness in sorted({trial.harness for trial in chosen}) if kind in _BY_KERNEL else ():
            rows.append(_row(Path(harness).stem, [t for t in chosen if t.harness == harness], lines))
    rows += ["", *_sanitizer(trials, lines), ""]
    rows += [told for trial in trials for told in _remarks(trial, lines)]
    return "\n".join(rows)


def _row(title: str, trials: Iterable[Trial], lines: Mapping[tuple[str, str], Line]) -> str:
    trials = list(trials)
    ran = [lines[t.name, "run"] for t in trials if (t.name, "run") in lines]
    right = sum(line.outcome == Outcome.RIGHT.value for line in ran)
    ratios = [
        lines[t.name, "time"].numbers["ratio"]
        for t in trials
        if (t.name, "time") in lines and lines[t.name, "time"].outcome == "timed"
    ]
    low, median, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratios or [0.0]) * 3
    restored = sum(t.restored for t in trials)
    operators = len({t.group for t in trials if t.group})
    cells = [title, len(trials), len(ran), right, restored, operators]
    times = f"{median:.3f} | {low:.3f} to {high:.3f} | {max(ratios):.3f}" if ratios else " | | "
    return f"| {' | '.join(str(cell) for cell in cells)} | {times} |"


def _sanitizer(trials: Iterable[Trial], lines: Mapping[tuple[str, str], Line]) -> Iterable[str]:
    yield "| Compute Sanitizer | clean | errors | no answer |\n| --- | --- | --- | --- |"
    kinds = {trial.name: trial.kind for trial in trials}
    for tool in Tool:
        for title, wanted in (
            ("correct kernels", {"correct"}),
            ("repaired, optimised, scheduled", {"repair", "optimise", "schedule"}),
        ):
            counts = Counter(
                line.outcome
                for (name, step), line in lines.items()
                if step == tool.value and kinds[name] in wanted
            )
            yield f"| {tool.value}, {title} | {counts['clean']} | {counts['errors']} | {counts['none']} |"


def _remarks(trial: Trial, lines: Mapping[tuple[str, str], Line]) -> Iterable[str]:
    run, timed = lines.get((trial.name, "run")), lines.get((trial.name, "time"))
    if run is not None and run.outcome != Outcome.RIGHT.value:
        yield f"NOT RIGHT: {trial.name} ({trial.group}): {run.outcome} {run.detail}"
    if timed is not None and timed.outcome != "timed":
        yield f"NOT TIMED: {trial.name} ({trial.group}): {timed.outcome} {timed.detail}"
    elif timed is not None and (timed.numbers["low"] > 1.0 or trial.kind in _EACH):
        numbers = timed.numbers
        yield (
            f"{trial.name} ({trial.group}): {numbers['ratio']:.3f} ({numbers['low']:.3f} to {numbers['high']:.3f}) of "
            f"{numbers['first_median'] * 1e3:.1f} µs"
        )
    for tool in Tool:
        said = lines.get((trial.name, tool.value))
        if said is not None and said.outcome != "clean":
            count = said.numbers["errors"]
            yield f"{tool.value}: {trial.name} ({trial.kind}): {said.outcome} {count:.0f} {said.detail}"
