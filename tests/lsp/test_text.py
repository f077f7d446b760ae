"""Positions of the protocol against a slow reading of its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from ptxcheck.lsp.text import Lines

TEXTS = st.text(st.sampled_from("ab \tβ😀\r\n\u2028\x0c"), max_size=40)
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def slowly(text: str, offset: int, encoding: str) -> tuple[int, int]:
    """Walk through a text a character at a time, as the protocol defines lines and columns."""
    codec, size = CODECS[encoding]
    line = column = 0
    for index, character in enumerate(text[:offset]):
        ends = character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n")
        if ends:
            line, column = line + 1, 0
        else:
            column += len(character.encode(codec)) // size
    return line, column


@given(TEXTS, st.data(), st.sampled_from(sorted(CODECS)))
def test_positions(text: str, data: st.DataObject, encoding: str) -> None:
    offset = data.draw(st.integers(0, len(text)))
    lines = Lines(text, encoding)
    place = lines.position(offset)
    assert (place.line, place.character) == slowly(text, offset, encoding)
    inside_line_end = offset > 0 and text[offset - 1 : offset + 1] == "\r\n"
    assert lines.offset(place) == offset - inside_line_end


@given(TEXTS, st.integers(-3, 50), st.integers(-3, 50))
def test_no_place_is_outside(text: str, line: int, column: int) -> None:
    lines = Lines(text)
    assert 0 <= lines.offset(Position(max(line, 0), max(column, 0))) <= len(text)
    assert 0 <= lines.placed(line, column) <= len(text)
    lines.word(line, column)


def test_columns_behind_the_end_of_a_line() -> None:
    lines = Lines("a\r\nbc\r\n")
    assert lines.offset(Position(0, 99)) == 1
    assert lines.offset(Position(9, 0)) == 7
    assert lines.newline == "\r\n"


@pytest.mark.parametrize(
    ("line", "column", "start", "end"),
    [
        (2, 4, (1, 4), (1, 8)),  # the checker counts characters, the protocol UTF-16 units
        (2, 0, (1, 2), (1, 9)),
        (0, 0, (0, 0), (0, 4)),
        (7, 1, (2, 0), (2, 0)),
    ],
)
def test_words(line: int, column: int, start: tuple[int, int], end: tuple[int, int]) -> None:
    found = Lines("one;\r\n  😀name;\r\n").word(line, column)
    assert (found.start.line, found.start.character) == start
    assert (found.end.line, found.end.character) == end
