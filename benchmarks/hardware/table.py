"""Verdict of the checker × outcome on the GPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .entries import Judged, read_judged, read_manifest, read_results

_OUTCOMES = ("right", "wrong", "hang", "fault", "refused", "broken")
_BAD = frozenset({"wrong", "hang", "fault"})
_PROVED = frozenset({"proved", "proved-bounded", "assumes"})


def show_table(folder: Path) -> str:
    """Return the table, and the entries that contradict the checker, as Markdown."""
    entries = {entry.name: entry for entry in read_manifest(folder)}
    results = {result.name: result for result in read_results(folder / "results.jsonl")}
    judged = read_judged(folder)
    counts: Counter[tuple[str, str]] = Counter()
    for name, result in results.items():
        kind = _judgement(judged[name]) if entries[name].operator else "correct kernel"
        counts[kind, result.outcome] += 1
    lines = ["| verdict | " + " | ".join(_OUTCOMES) + " |", "| --- |" + " --- |" * len(_OUTCOMES)]
    for verdict in sorted({v for v, _ in counts}):
        lines.append(f"| {verdict} | " + " | ".join(str(counts[verdict, o]) for o in _OUTCOMES) + " |")
    for name, result in sorted(results.items()):
        entry, said = entries[name], judged[name]
        told = f"{name} ({entry.operator}) {entry.description}: GPU {result.outcome} {result.detail}"
        if result.outcome in _BAD and _judgement(said) in _PROVED:
            lines.append(f"\nCONTRADICTION: {said.verdict}: {told}")
        elif result.outcome in _BAD and _judgement(said) != "violated":
            lines.append(f"\nundecided: {said.unknown}: {told}")
        elif not entry.operator and (result.outcome != "right" or _judgement(said) == "violated"):
            lines.append(f"\nCORRECT KERNEL: {said.verdict} {said.findings}: {told}")
    return "\n".join(lines)


def _judgement(said: Judged) -> str:
    return "violated" if said.findings or said.verdict == "violated" else said.verdict or "not verified"
