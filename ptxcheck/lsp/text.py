"""Offsets in a text to positions of the Language Server Protocol and back.

Lines end as the protocol has it (LF, CR LF, CR), and columns count the units of the encoding that client and
server agreed on: UTF-16 where nothing was said.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from lsprotocol.types import Position, Range

_LINE_END = re.compile(r"\r\n|\n|\r")
_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODEC = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
LARGEST = (1 << 31) - 1
"""Largest line or column of the protocol."""
_WORD = re.compile(r"[\w$%]+|\S")


@dataclass(frozen=True)
class Lines:
    """A text and where its lines start."""

    text: str = field(repr=False)
    encoding: str = "utf-16"

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @cached_property
    def _fed_starts(self) -> list[int]:
        """Starts of the lines that ptxcheck and compilers count: behind a line feed only."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    @cached_property
    def newline(self) -> str:
        """Return how lines end, by the first that does."""
        found = _LINE_END.search(self.text)
        return "\n" if found is None else found[0]

    def units(self, text: str) -> int:
        """Return the length of a text in units of the encoding."""
        if text.isascii():
            return len(text)
        encoded = text.encode(_CODEC[self.encoding], errors="surrogatepass")
        return len(encoded) // _UNIT_BYTES[self.encoding]

    def position(self, offset: int) -> Position:
        """Return the position of a character offset; offsets outside the text count as its ends."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        return Position(line, self.units(self.text[self._starts[line] : offset]))

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(max(start, end)))

    def offset(self, position: Position) -> int:
        """Return the character offset of a position; columns behind a line's end count as its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._line(position.line)
        line = self.text[start:end]
        if line.isascii():
            return start + min(position.character, len(line))
        used = 0
        for index, character in enumerate(line):
            if used >= position.character:
                return start + index
            used += self.units(character)
        return end

    def _line(self, line: int) -> tuple[int, int]:
        """Return start and end of a line of the protocol, without its end mark."""
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def placed(self, line: int, column: int) -> int:
        """Return the offset of a line and column that count from 1, as the checker gives them; 0 for no line."""
        if not 1 <= line <= len(self._fed_starts):
            return 0 if line < 1 else len(self.text)
        start = self._fed_starts[line - 1]
        end = self._fed_starts[line] - 1 if line < len(self._fed_starts) else len(self.text)
        return min(start + max(column - 1, 0), end)

    def fed_line(self, line: int) -> str | None:
        """Return a line as compilers count them, from 1; None when there is no such line."""
        if not 1 <= line <= len(self._fed_starts):
            return None
        end = self._fed_starts[line] - 1 if line < len(self._fed_starts) else len(self.text)
        return self.text[self._fed_starts[line - 1] : end]

    def word(self, line: int, column: int) -> Range:
        """Return the range of the word at a place of the checker; of the whole line where no column is known."""
        start = self.placed(line, column)
        if line < 1:
            return self.range(0, self._line(0)[1])
        if column < 1:
            first, end = self._line(self.position(start).line)
            text = self.text[first:end]
            return self.range(first + len(text) - len(text.lstrip()), end)
        found = _WORD.match(self.text, start)
        return self.range(start, found.end() if found else start)
