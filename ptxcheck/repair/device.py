"""Running kernels in a process of their own, so that a hang or a fault is an answer and not the end of the tool."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ..runtime.scratch import scratch_folder
from .outcome import Environment, Outcome, RunResult

_START_SECONDS = 60.0


class NoDeviceError(RuntimeError):
    """There is no usable GPU, driver or harness here: the message says which."""


class Device:
    """A worker process that is started again whenever a kernel took it down. Use it as a context manager."""

    def __init__(
        self, harness: Path, *, limit_seconds: float = 10.0, command: Sequence[str] | None = None
    ) -> None:
        self._command = [*(command or (sys.executable, "-m", "ptxcheck.repair.worker")), str(harness)]
        self._limit = limit_seconds
        self._worker: subprocess.Popen[str] | None = None
        self._folder = scratch_folder()
        self._count = 0
        self.environment: Environment | None = None

    def __enter__(self) -> Device:
        """Start the worker. Raises NoDeviceError."""
        try:
            self._start()
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the worker, whatever it is doing."""
        self._kill()
        self._folder.cleanup()

    def run(self, image: str | bytes, cases: Sequence[int], repeat: int = 1) -> RunResult:
        """Launch PTX text or a cubin `repeat` times on each case, until a result is not right."""
        answer = self.ask(
            {"op": "run", "image": self.stored(image), "cases": list(cases), "repeat": repeat},
            self._limit * max(1, len(cases) * repeat) ** 0.5,
        )
        return answer if isinstance(answer, RunResult) else RunResult.from_json(answer)

    def time(self, images: Sequence[str | bytes], case: int, rounds: int) -> list[list[float]] | RunResult:
        """Return milliseconds of each round for each image, interleaved; or why there are none."""
        request = {"op": "time", "images": [self.stored(i) for i in images], "case": case, "rounds": rounds}
        answer = self.ask(request, self._limit * 3)
        if isinstance(answer, RunResult):
            return answer
        if "times" not in answer:
            return RunResult.from_json(answer)
        times: list[list[float]] = answer["times"]
        return times

    def finish(self, limit_seconds: float) -> bool:
        """Let the worker end by itself, which a tool around it may need for its report; tell whether it did."""
        worker = self._worker
        if worker is None:
            return False
        try:
            worker.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            self._kill()
            return False
        self._worker = None
        return True

    # -- the process

    def stored(self, image: str | bytes) -> str:
        """Write an image where the worker can read it; return its path."""
        self._count += 1
        path = Path(self._folder.name) / f"image-{self._count}"
        path.write_bytes(image.encode() if isinstance(image, str) else image)
        return str(path)

    def _start(self) -> None:
        self._worker = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        line = self._line(_START_SECONDS)
        if not line:
            detail = "it did not start in time" if line is None else self._errors()
            self._kill()
            raise NoDeviceError(detail or "the worker ended at once")
        table = json.loads(line)
        if "error" in table:
            self._kill()
            raise NoDeviceError(str(table["error"]))
        self.environment = Environment(
            table["gpu"], (table["capability"][0], table["capability"][1]), table["driver"], table["clocks"]
        )

    def ask(self, request: Mapping[str, Any], limit: float) -> RunResult | Mapping[str, Any]:
        """Return the worker's answer to a request, or why there is none within `limit` seconds."""
        if self._worker is None or self._worker.poll() is not None:
            self._start()
        assert self._worker is not None
        assert self._worker.stdin is not None
        try:
            self._worker.stdin.write(json.dumps(request) + "\n")
            self._worker.stdin.flush()
        except BrokenPipeError:
            self._kill()
            return RunResult(Outcome.BROKEN, "the worker ended before it was asked")
        line = self._line(limit)
        if line is None:
            self._kill()
            return RunResult(Outcome.HANG, f"no end within {limit:.0f} s")
        if not line:
            errors = self._errors()
            self._kill()
            return RunResult(Outcome.BROKEN, f"the worker died: {errors}")
        answer: Mapping[str, Any] = json.loads(line)
        if answer.get("outcome") == Outcome.FAULT.value:
            self._kill()
        return answer

    def _line(self, limit: float) -> str | None:
        """Return the next line, "" at the end of the process, None when nothing comes in time."""
        assert self._worker is not None
        assert self._worker.stdout is not None
        deadline = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(self._worker.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return None
        return self._worker.stdout.readline()

    def _errors(self) -> str:
        assert self._worker is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            _, errors = self._worker.communicate(timeout=1)
            last = [line for line in (errors or "").splitlines() if line.strip()]
            return last[-1] if last else ""
        return ""

    def _kill(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.communicate(timeout=10)
