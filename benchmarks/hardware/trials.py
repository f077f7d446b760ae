"""Repaired and optimised kernels to run on a GPU, as a manifest beside their images."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

MANIFEST = "trials.json"


@dataclass(frozen=True, slots=True)
class Trial:
    """A kernel to run and to time. Paths are relative to the folder of the manifest; images are cubins or PTX."""

    name: str
    kind: str
    """repair, optimise, schedule, or correct for an original."""
    group: str
    """The operator of the mutant; what a schedule changes."""
    harness: str
    image: str
    delayed: tuple[str, ...]
    original: str
    """What to compare the time with: the correct kernel, or the one before it was optimised."""
    case: int
    """The case that is timed: the one with most work."""
    restored: bool
    """The text is the original's, to the word."""


def write_trials(folder: Path, trials: list[Trial]) -> None:
    """Write the manifest."""
    rows = json.dumps([asdict(trial) for trial in trials], indent=1)
    (folder / MANIFEST).write_text(rows + "\n", encoding="utf-8")


def read_trials(folder: Path) -> list[Trial]:
    """Read the manifest."""
    rows = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return [Trial(**{**row, "delayed": tuple(row["delayed"])}) for row in rows]
