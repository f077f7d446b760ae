"""Compute Sanitizer as one more witness: it watches the accesses of a kernel that runs by its harness.

Source: Compute Sanitizer documentation, tools memcheck, racecheck and synccheck, and the summaries of its log.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ..runtime.scratch import scratch_folder
from .device import Device, NoDeviceError
from .outcome import Outcome

_SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error")
_HAZARDS = re.compile(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)")
_MESSAGE = re.compile(r"^=+ (?!COMPUTE-SANITIZER|Internal|Target|This|To )(\S.*)$", re.MULTILINE)
_FINISH_SECONDS = 60.0


class Tool(Enum):
    """What is looked for."""

    MEMCHECK = "memcheck"
    SYNCCHECK = "synccheck"
    RACECHECK = "racecheck"


COUNTING = frozenset({Tool.MEMCHECK.value, Tool.SYNCCHECK.value})
"""Tools whose errors keep a repair from being validated. Racecheck reports races in correct kernels that hand over by
`bar.arrive` or reuse slots of bulk copies (2 of 9 in benchmarks/hardware.md), so what it says is only shown."""


@dataclass(frozen=True, slots=True)
class Sanitized:
    """What one tool says of a kernel. `errors` is None when it came to no end; `detail`: why, or the first of them."""

    tool: str
    errors: int | None
    detail: str = ""


def find_sanitizer() -> str | None:
    """Return the path of compute-sanitizer on PATH, None when there is none."""
    return shutil.which("compute-sanitizer")


def sanitize(
    harness: Path, image: str | bytes, cases: list[int], tool: Tool, sanitizer: str, *, limit_seconds: float
) -> Sanitized:
    """Run a kernel once on each case under a tool."""
    with scratch_folder() as folder:
        log = Path(folder) / "log"
        command = [sanitizer, "--tool", tool.value, "--log-file", str(log)]
        command += [sys.executable, "-m", "ptxcheck.repair.worker"]
        try:
            with Device(harness, limit_seconds=limit_seconds, command=command) as device:
                answer = device.run(image, cases)
                ended = device.finish(_FINISH_SECONDS)
        except NoDeviceError as error:
            return Sanitized(tool.value, None, f"the tool does not work here: {error}")
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if answer.outcome is Outcome.HANG or not ended:
        return Sanitized(tool.value, None, f"no end within {limit_seconds:.0f} s under the tool")
    return read_log(tool, text, answer.detail)


def read_log(tool: Tool, text: str, otherwise: str = "") -> Sanitized:
    """Return what a log says; `otherwise` is the detail of a log without a summary."""
    hazards, summary = _HAZARDS.search(text), _SUMMARY.search(text)
    if hazards is None and summary is None:
        return Sanitized(tool.value, None, otherwise or "the tool wrote no summary")
    count = int((hazards or summary or ["", "0"])[1])
    message = _MESSAGE.search(text) if count else None
    return Sanitized(tool.value, count, message[1] if message else "")
