"""What the hardware said of a kernel, as data that crosses a process boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class Outcome(Enum):
    """How a run ended."""

    RIGHT = "right"
    WRONG = "wrong"
    """The kernel ended and its result differs from the reference."""
    HANG = "hang"
    """The kernel did not end within the limit."""
    FAULT = "fault"
    """The driver reported an error of the running kernel."""
    REFUSED = "refused"
    """The driver did not load or launch the kernel."""
    BROKEN = "broken"
    """The harness itself failed, or the worker died."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The worst outcome over the runs of one kernel, and in which case it was seen."""

    outcome: Outcome
    detail: str = ""
    case: int = -1
    """Index of the harness's case, -1 for none in particular."""
    runs: int = 0
    """Launches that ended."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "outcome": self.outcome.value}

    @staticmethod
    def from_json(table: Mapping[str, Any]) -> RunResult:
        """Read what `to_json` gave."""
        return RunResult(
            Outcome(table["outcome"]), str(table["detail"]), int(table["case"]), int(table["runs"])
        )


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a result was measured."""

    gpu: str
    capability: tuple[int, int]
    driver: int
    """As cuDriverGetVersion gives it: 13000 for 13.0."""
    clocks: str = ""
    """Clocks as found, when NVML tells."""
