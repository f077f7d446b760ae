"""Verdict of the checker × outcome on the GPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .entries import read_manifest, read_results

_OUTCOMES = ("right", "wrong", "hang", "fault", "refused", "broken")
_BAD = frozenset({"wrong", "hang", "fault"})
_PROVED = frozenset({"proved", "proved-bounded", "assumes"})


def show_table(folder: Path) -> str:
    """Return the table, and the entries that contradict the checker, as Markdown."""
    entries = {entry.name: entry for entry in read_manifest(folder)}
    results = {result.name: result for result in read_results(folder / "results.jsonl")}
    counts: Counter[tuple[str, str]] = Counter()
    for name, result in results.items():
        counts[_judgement(entries[name].verdict, entries[name].findings), result.outcome] += 1
    lines = ["| verdict | " + " | ".join(_OUTCOMES) + " |", "| --- |" + " --- |" * len(_OUTCOMES)]
    for verdict in sorted({v for v, _ in counts}):
        lines.append(f"| {verdict} | " + " | ".join(str(counts[verdict, o]) for o in _OUTCOMES) + " |")
    for name, result in sorted(results.items()):
        entry = entries[name]
        if result.outcome in _BAD and entry.verdict in _PROVED and not entry.findings:
            lines.append(f"\nCONTRADICTION {name}: {entry.description}: {entry.verdict}, {result.outcome} {result.detail}")
        if result.outcome != "right" and not entry.operator:
            lines.append(f"\nCORRECT KERNEL {name}: {result.outcome} {result.detail}")
    return "\n".join(lines)


def _judgement(verdict: str, findings: tuple[str, ...]) -> str:
    return "violated" if findings or verdict == "violated" else verdict
