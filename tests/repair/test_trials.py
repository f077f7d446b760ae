"""Trials on a GPU: what is written, and the table of what came of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.hardware.entries import Judged, read_judged
from benchmarks.hardware.run_trials import Line, read_lines
from benchmarks.hardware.trial_table import show_trials
from benchmarks.hardware.trials import Trial, read_trials, write_trials

_TRIAL = Trial(
    "ring/1", "repair", "drop-init", "corpus/ring.toml", "ring-1.ptx", ("ring-1.0.ptx",), "ring.ptx", 3, False
)
_TIMES = {"ratio": 1.0, "low": 0.99, "high": 1.01, "first_median": 0.01}


def _table(folder: Path, trials: list[Trial], lines: list[Line]) -> str:
    write_trials(folder, trials)
    results = folder / "results.jsonl"
    results.write_text("".join(json.dumps(asdict(line)) + "\n" for line in lines), encoding="utf-8")
    return show_trials(folder, results)


def test_a_manifest_reads_as_it_was_written(tmp_path: Path) -> None:
    write_trials(tmp_path, [_TRIAL])
    assert read_trials(tmp_path) == [_TRIAL]


def test_the_table_counts_what_ran_and_what_was_right(tmp_path: Path) -> None:
    other = replace(_TRIAL, name="ring/2", restored=True)
    lines = [
        Line("ring/1", "run", "right", "", {"runs": 60}),
        Line("ring/1", "time", "timed", "", {**_TIMES, "ratio": 1.2, "low": 1.1}),
        Line("ring/2", "run", "wrong", "case 0: output differs", {"runs": 1}),
        Line("ring/1", "memcheck", "errors", "Invalid read", {"errors": 2}),
    ]
    table = _table(tmp_path, [_TRIAL, other], lines)
    assert "| **repair** | 2 | 2 | 1 | 1 | 1 | 1.200 |" in table
    assert "NOT RIGHT: ring/2 (drop-init): wrong case 0: output differs" in table
    assert "ring/1 (drop-init): 1.200 (1.100 to 1.010) of 10.0 µs" in table
    assert "| memcheck, repaired, optimised, scheduled | 0 | 1 | 0 |" in table


def test_half_written_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(
        json.dumps(asdict(Line("a", "run", "right", "", {}))) + '\n{"name": "b", "st', encoding="utf-8"
    )
    assert [line.name for line in read_lines(path)] == ["a"]
    first, second = Judged("a", "unknown", (), "why"), Judged("a", "violated", ("MB020",), "")
    rows = "".join(json.dumps(asdict(each)) + "\n" for each in (first, second))
    (tmp_path / "judged.jsonl").write_text(rows + '{"name', encoding="utf-8")
    assert read_judged(tmp_path) == {"a": second}
