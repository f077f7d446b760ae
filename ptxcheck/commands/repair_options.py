"""The options of `ptxcheck repair`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """The file to repair or to optimise, how to run it, and what to write."""

    path: str
    harness: str | None
    optimise: bool
    schedules: bool
    kernel: str | None
    diff: bool
    output: str | None
    unsafe: bool
    form: str
    limit: float
    rounds: int
    metrics: bool
    sanitizer: bool
    config_file: str | None
