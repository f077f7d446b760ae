"""Cutting text: comments, strings, matching braces. Every function is linear in what it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STOP = re.compile(r'[;{}"]|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_PIECE = 1 << 16
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?')


def blank_comments(text: str) -> str:
    """Return the text with each comment replaced by spaces of the same length, strings untouched."""
    if "/" not in text:
        return text
    return _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)


def trimmed_lines(text: str) -> str:
    """Return the text without empty lines and without space around lines."""
    lines = ("\n".join(filter(None, map(str.strip, piece.splitlines()))) for piece in _pieces(text, "\n"))
    return "\n".join(filter(None, lines))


def single_spaced(text: str) -> str:
    """Return the text with one space for each run of white space, none around it."""
    return " ".join(filter(None, (" ".join(piece.split()) for piece in _pieces(text, " "))))


def _pieces(text: str, separator: str) -> Iterator[str]:
    """Cut behind separators: a million words of a table at once would take 50 times its memory."""
    at = 0
    while at < len(text):
        end = text.find(separator, at + _PIECE) + 1 or len(text)
        yield text[at:end]
        at = end


def statement_end(text: str, start: int, end: int) -> int:
    """Return the offset after the `;` that ends a statement, or where an unclosed statement stops.

    Braces of vectors and initialisers nest; a `}` of an enclosing block ends the statement before it.
    """
    depth = 0
    at = start
    while True:
        found = _STOP.search(text, at, end)
        if found is None:
            return end
        at = found.end()
        character = text[found.start()]
        if character == '"':
            string = _STRING.match(text, found.start(), end)
            at = string.end() if string else at
        elif character == ";":
            return at
        elif character == "{":
            depth += 1
        elif character == "}":
            if depth == 0:
                return found.start()
            depth -= 1


def closing_brace(text: str, start: int, end: int) -> int | None:
    """Return the offset of the `}` that matches the `{` at `start`, or None."""
    depth = 0
    at = start
    while True:
        found = _STOP.search(text, at, end)
        if found is None:
            return None
        at = found.end()
        character = text[found.start()]
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return found.start()
        elif character == '"':
            string = _STRING.match(text, found.start(), end)
            at = string.end() if string else at
