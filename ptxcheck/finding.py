"""Findings: what a rule reports, and the evidence with it. Renderers are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .source import Position, Span


class Severity(Enum):
    """What happens to the user who ignores the finding, worst first."""

    ERROR = "error"
    HANG = "hang"
    UNDEFINED = "undefined"
    WRONG_RESULT = "wrong-result"
    LAUNCH_ERROR = "launch-error"
    SLOW = "slow"
    NOTE = "note"


class Confidence(Enum):
    """`PROVED`: holds on some feasible path of one thread. `POSSIBLE`: the analysis could not exclude it."""

    PROVED = "proved"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of an inline stack: where in the user's or a library's source."""

    position: Position
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """Where a finding is: PTX place, and the inline stack of source lines, innermost first."""

    ptx: Position
    span: Span
    frames: tuple[Frame, ...] = ()
    shown: Position | None = None
    """The frame its author can change: innermost outside library headers; None without line info."""

    @property
    def primary(self) -> Position:
        """Return the position to show first."""
        return self.shown or self.ptx


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that the message speaks of."""

    message: str
    location: Location


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of one rule at one place."""

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    location: Location
    kernel: str | None = None
    help: str = ""
    related: tuple[Related, ...] = ()
    fingerprint: str = ""
    suppressed: str | None = None
    """Reason given in the source when the finding is suppressed there."""
