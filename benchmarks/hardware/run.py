"""Run prepared entries on the GPU, several at a time, and go on where an earlier run stopped."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ptxcheck.repair.device import Device
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.outcome import Environment, Outcome, RunResult

from .entries import Entry, Result, harness_path, read_manifest, read_results

_REPEAT = 2
_LIMIT_SECONDS = 2.0


def run_all(folder: Path, out: Path, *, jobs: int, seconds: float, root: Path) -> tuple[int, int]:
    """Run what has no result yet until the time is up; return how many were run and how many are left."""
    done = {r.name for r in read_results(folder / "results.jsonl", out) if r.outcome != Outcome.BROKEN.value}
    left: dict[Path, list[Entry]] = {}
    for entry in read_manifest(folder):
        if entry.name not in done:
            left.setdefault(harness_path(entry.harness, folder, root), []).append(entry)
    work: queue.SimpleQueue[tuple[Path, Sequence[Entry]]] = queue.SimpleQueue()
    for harness, entries in sorted(left.items()):
        for start in range(0, len(entries), 16):
            work.put((harness, entries[start : start + 16]))
    deadline = time.monotonic() + seconds
    sink = _Sink(out)
    threads = [threading.Thread(target=_serve, args=(work, folder, deadline, sink)) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sink.count, sum(len(entries) for entries in left.values()) - sink.count


class _Sink:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.count = 0
        self.environment: Environment | None = None

    def write(self, result: Result, environment: Environment | None) -> None:
        with self._lock:
            if self.environment is None and environment is not None:
                self.environment = environment
                self._path.with_name("environment.json").write_text(json.dumps(asdict(environment)) + "\n")
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(result)) + "\n")
            self.count += 1


def _serve(
    work: queue.SimpleQueue[tuple[Path, Sequence[Entry]]],
    folder: Path,
    deadline: float,
    sink: _Sink,
) -> None:
    while time.monotonic() < deadline:
        try:
            harness, entries = work.get_nowait()
        except queue.Empty:
            return
        cases = range(len(load_harness(harness).cases))
        with Device(harness, limit_seconds=_LIMIT_SECONDS) as device:
            for entry in entries:
                if time.monotonic() > deadline:
                    return
                sink.write(_judged(device, entry, folder, list(cases)), device.environment)


def _judged(device: Device, entry: Entry, folder: Path, cases: Sequence[int]) -> Result:
    """Run the kernel as it is, then its delayed forms; the first outcome that is not right counts."""
    runs = 0
    for number, path in enumerate((entry.image, *entry.perturbed)):
        answer: RunResult = device.run((folder / path).read_text(encoding="utf-8"), cases, _REPEAT)
        runs += answer.runs
        if answer.outcome is not Outcome.RIGHT:
            detail = f"case {answer.case}: {answer.detail}" if answer.case >= 0 else answer.detail
            return Result(entry.name, answer.outcome.value, detail[:300], runs, number > 0)
    return Result(entry.name, Outcome.RIGHT.value, "", runs, False)
