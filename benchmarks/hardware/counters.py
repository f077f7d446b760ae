"""Counters of Nsight Compute for kernels that run by a harness: trials, as they were and as they are, and questions.

What is asked of the GPU is in `ptxcheck.repair.metrics`. Each kernel runs once, on the case with most work.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.metrics import Profile, profile

from .entries import harness_path
from .trials import MANIFEST, read_trials

_LIMIT_SECONDS = 60.0
QUESTIONS = (
    "arrive_and_wait.control", "copies_over_other_lanes.control", "fence_of_the_copier", "fence_of_the_copier.control",
    "late_meeting.control", "late_waiter.control", "mask_without_its_lane.together", "sides_of_a_branch.control",
    "stores_at_exit", "stores_of_another_warp", "unfenced_copy", "unfenced_operand.control", "wait_of_one_warp",
)  # fmt: skip
"""Kernels of `hardware/questions` that end and whose results are right."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel to count for."""

    name: str
    harness: Path
    image: Path
    case: int


def subjects(folders: list[Path], root: Path) -> Iterator[Subject]:
    """Yield the kernels of some folders of trials, those that they are compared with, and the questions."""
    for folder in folders:
        for trial in read_trials(folder) if (folder / MANIFEST).exists() else ():
            harness = harness_path(trial.harness, folder, root)
            yield Subject(trial.name, harness, folder / trial.image, trial.case)
    for name in QUESTIONS:
        harness = root / "benchmarks" / "hardware" / "questions" / f"{name}.toml"
        yield Subject(f"questions/{name}", harness, Path(load_harness(harness).source), 0)


def count_all(folders: list[Path], out: Path, root: Path, seconds: float) -> tuple[int, int]:
    """Write a line for each kernel that has none yet, until the time is up; return how many, and how many are left."""
    known = read_counters(out)
    end = time.monotonic() + seconds
    left = [each for each in subjects(folders, root) if each.name not in known]
    done = 0
    for each in left:
        if time.monotonic() > end:
            break
        kernel = load_harness(each.harness).kernel
        seen = profile(each.harness, kernel, each.image.read_bytes(), each.case, limit_seconds=_LIMIT_SECONDS)
        with out.open("a", encoding="utf-8") as stream:
            row = {"name": each.name, "case": each.case, "counters": seen.to_json()}
            stream.write(json.dumps(row) + "\n")
        done += 1
    return done, len(left) - done


def read_counters(path: Path) -> dict[str, Profile]:
    """Return what was counted, by name."""
    found: dict[str, Profile] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        row = json.loads(line)
        values = row["counters"]
        missing = values.pop("missing", "")
        found[row["name"]] = Profile(tuple(values.items()), missing)
    return found
