"""Source lines of program points, for the page: the PTX line and the lines that it was compiled from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..finding import Frame, Location
from ..ir import Function
from ..sources.demangled_names import short_name
from ..sources.files import Files
from ..sources.positions import Locator

LONGEST_LINE = 240
MOST_FRAMES = 8
"""Frames of an inline stack that are shown, innermost first."""


def cut(text: str, longest: int = LONGEST_LINE) -> str:
    """Return a text of bounded length."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@dataclass
class Places:
    """Points of one kernel that the page speaks of, each told once."""

    function: Function
    locator: Locator
    files: Files
    _known: dict[int, dict[str, Any]] = field(default_factory=dict)

    def note(self, point: int) -> int:
        """Remember a point; return it."""
        if point not in self._known:
            self._known[point] = self._place(point)
        return point

    def table(self) -> dict[str, dict[str, Any]]:
        """Return the places of all points that were noted."""
        return {str(point): place for point, place in sorted(self._known.items())}

    def location(self, point: int) -> Location:
        """Return where a point is."""
        return self.locator.location(self.function, point)

    def _place(self, point: int) -> dict[str, Any]:
        location = self.location(point)
        shown = [frame for frame in location.frames if frame.position == location.shown]
        frames = list(dict.fromkeys((*shown[:1], *location.frames)))[:MOST_FRAMES]
        return {
            "file": location.ptx.file,
            "line": location.ptx.line,
            "column": location.ptx.column,
            "text": cut(self.locator.module.source.line_text(location.ptx.line)),
            "width": location.span.end - location.span.start,
            "frames": [self._frame(frame) for frame in frames],
        }

    def _frame(self, frame: Frame) -> dict[str, Any]:
        at = frame.position
        source = self.files.source(at.file)
        return {
            "file": at.file,
            "line": at.line,
            "column": at.column,
            "function": None if frame.function is None else cut(short_name(frame.function)),
            "text": None if source is None or at.line < 1 else cut(source.line_text(at.line)),
        }
