"""Source text, spans and positions. Nothing else in the package knows about files or lines."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

COMPILED_SUFFIX = ".cu.ptx"
"""Ends the names of texts that CUDA sources were compiled to."""


class Span(NamedTuple):
    """Half-open range of character offsets into one source text."""

    start: int
    end: int


class Position(NamedTuple):
    """One place in a file: 1-based line and column (0 = unknown column)."""

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True)
class Source:
    """A named text. `name` is the path to show, relative where the user gave a relative one."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    @property
    def is_compiled(self) -> bool:
        """Tell whether this is what ptxcheck compiled a CUDA source to, which then has the name of that source."""
        return self.name.endswith(COMPILED_SUFFIX)

    def position(self, offset: int) -> Position:
        """Return the line and column of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(self.name, line, offset - self._line_starts[line - 1] + 1)

    def line_start(self, line: int) -> int:
        """Return the character offset of a 1-based line, which is one of the text."""
        return self._line_starts[line - 1]

    def line_text(self, line: int) -> str:
        """Return the text of a 1-based line without its end, or "" when there is no such line."""
        if not 1 <= line <= len(self._line_starts):
            return ""
        start = self.line_start(line)
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """One located complaint of the parser: what is wrong and where."""

    message: str
    span: Span
