"""Run prepared trials on the GPU: results first, several at a time; then times, alone; then Compute Sanitizer."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ptxcheck.repair.device import Device
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.outcome import Environment, Outcome, RunResult
from ptxcheck.repair.sanitizer import Tool, find_sanitizer, sanitize
from ptxcheck.repair.timing import compare

from .entries import harness_path
from .trials import Trial, read_trials

_REPEAT = 3
_ROUNDS = 60
_LIMIT_SECONDS = 3.0
_SANITIZER_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the results: what one step (`run`, `time`, or a tool of the sanitizer) says of one trial."""

    name: str
    step: str
    outcome: str
    """Of `run` and a failed `time`: right, wrong, …; of `time`: timed; of a tool: clean, errors, or none."""
    detail: str
    numbers: dict[str, float]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done."""

    jobs: int
    seconds: float
    sanitized: int
    """Trials of each kernel that run under Compute Sanitizer, the correct one first."""


def run_trials(folder: Path, out: Path, root: Path, effort: Effort) -> tuple[int, int]:
    """Do what has no line yet until the time is up; return how many lines were written and how many are left."""
    known = {(line.name, line.step) for line in read_lines(out)}
    deadline = time.monotonic() + effort.seconds
    trials = read_trials(folder)
    sink = _Sink(out)

    def open_(step: str, chosen: Iterable[Trial]) -> list[Trial]:
        return [trial for trial in chosen if (trial.name, step) not in known]

    running = open_("run", trials)
    _in_parallel(
        running, effort.jobs, deadline, folder, root, lambda d, t: sink.write(_ran(d, t, folder, root), d)
    )
    right = {
        line.name for line in read_lines(out) if line.step == "run" and line.outcome == Outcome.RIGHT.value
    }
    timed = open_("time", (trial for trial in trials if trial.name in right))
    _in_parallel(timed, 1, deadline, folder, root, lambda d, t: sink.write(_timed(d, t, folder), d))
    watched = [
        (trial, tool)
        for tool in Tool
        for trial in open_(tool.value, _first(trials, effort.sanitized))
        if trial.name in right
    ]
    sanitizer = find_sanitizer()
    if sanitizer is not None:
        with ThreadPoolExecutor(effort.jobs) as pool:
            for line in pool.map(
                lambda pair: _watched(pair[0], pair[1], folder, root, sanitizer, deadline), watched
            ):
                if line is not None:
                    sink.write(line, None)
    return sink.count, len(running) + len(timed) + len(watched) - sink.count


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the results; a half-written last line is left out."""
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield Line(**json.loads(text))
        except (json.JSONDecodeError, TypeError):
            continue


class _Sink:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._environment: Environment | None = None
        self.count = 0

    def write(self, line: Line, device: Device | None) -> None:
        with self._lock:
            if device is not None and device.environment is not None and self._environment is None:
                self._environment = device.environment
                text = json.dumps(asdict(self._environment)) + "\n"
                self._path.with_name("environment.json").write_text(text, encoding="utf-8")
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(line)) + "\n")
            self.count += 1


def _in_parallel(
    trials: Iterable[Trial],
    jobs: int,
    deadline: float,
    folder: Path,
    root: Path,
    do: Callable[[Device, Trial], None],
) -> None:
    by_harness: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_harness[trial.harness].append(trial)
    batches = [chosen[i : i + 12] for chosen in by_harness.values() for i in range(0, len(chosen), 12)]

    def serve(batch: Sequence[Trial]) -> None:
        if time.monotonic() > deadline:
            return
        with Device(harness_path(batch[0].harness, folder, root), limit_seconds=_LIMIT_SECONDS) as device:
            for trial in batch:
                if time.monotonic() < deadline:
                    do(device, trial)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(serve, batches))


def _ran(device: Device, trial: Trial, folder: Path, root: Path) -> Line:
    """Run the kernel as it is, then its delayed forms; the first outcome that is not right counts."""
    cases = list(range(len(load_harness(harness_path(trial.harness, folder, root)).cases)))
    runs = 0
    for number, name in enumerate((trial.image, *trial.delayed)):
        answer = device.run((folder / name).read_bytes(), cases, _REPEAT)
        runs += answer.runs
        if answer.outcome is not Outcome.RIGHT:
            form = f"delays {number}, " if number else ""
            detail = f"{form}case {answer.case}: {answer.detail}"[:300]
            return Line(trial.name, "run", answer.outcome.value, detail, {"runs": runs})
    return Line(trial.name, "run", Outcome.RIGHT.value, "", {"runs": runs})


def _timed(device: Device, trial: Trial, folder: Path) -> Line:
    images = [(folder / name).read_bytes() for name in (trial.original, trial.image)]
    times = device.time(images, trial.case, _ROUNDS)
    if isinstance(times, RunResult):
        return Line(trial.name, "time", times.outcome.value, times.detail[:300], {})
    numbers: dict[str, Any] = asdict(compare(times[0], times[1]))
    return Line(trial.name, "time", "timed", "", numbers)


def _first(trials: Iterable[Trial], count: int) -> Iterator[Trial]:
    """Yield trials of each harness: the correct one, then those that are not restored to the word."""
    seen: Counter[str] = Counter()
    for trial in sorted(trials, key=lambda t: (t.kind != "correct", t.restored)):
        seen[trial.harness] += 1
        if seen[trial.harness] <= count:
            yield trial


def _watched(
    trial: Trial, tool: Tool, folder: Path, root: Path, sanitizer: str, deadline: float
) -> Line | None:
    if time.monotonic() > deadline:
        return None
    image = (folder / trial.image).read_bytes()
    harness = harness_path(trial.harness, folder, root)
    said = sanitize(harness, image, [0], tool, sanitizer, limit_seconds=_SANITIZER_SECONDS)
    outcome = "none" if said.errors is None else "errors" if said.errors else "clean"
    return Line(trial.name, tool.value, outcome, said.detail[:300], {"errors": said.errors or 0})
