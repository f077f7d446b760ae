"""Reading PTX: bytes to text, with a located complaint about whatever is not PTX text."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

from ..results import Problem, ProblemKind
from ..source import Position, Source
from .discover import STANDARD_INPUT, Input

MAX_BYTES = 1 << 30
"""Largest PTX file that is read."""
MAX_LINE = 1 << 26
"""Longest line; initialisers of tables can be long, but not this long."""

_BOM = b"\xef\xbb\xbf"
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


class UnreadableError(Exception):
    """A file that cannot be checked at all; carries what to tell the user."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    def problem(self, name: str) -> Problem:
        """Return this as a located problem of the file `name`."""
        return Problem(ProblemKind.INPUT, str(self), Position(name, self.line, self.column))


def read_ptx(item: Input) -> tuple[Source, tuple[Problem, ...]]:
    """Return the text of a PTX file and what is odd about it. Raises UnreadableError."""
    return decode(read_bytes(item.path), item.name)


def read_bytes(path: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Raises UnreadableError."""
    try:
        if path == STANDARD_INPUT:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            _refuse_odd_files(path)
            with Path(path).open("rb") as stream:
                data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UnreadableError(f"cannot be read: {error}") from error
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"larger than {MAX_BYTES >> 20} MiB")
    return data


def _refuse_odd_files(path: str) -> None:
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise UnreadableError("is a folder, not a file")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise UnreadableError("is a device or socket, not a file")
    if os.stat(path).st_size > MAX_BYTES:
        raise UnreadableError(f"larger than {MAX_BYTES >> 20} MiB")


def decode(data: bytes, name: str) -> tuple[Source, tuple[Problem, ...]]:
    """Return the text of PTX bytes and complaints that leave the rest checkable. Raises UnreadableError."""
    problems: list[Problem] = []
    if data.startswith(_BOM):
        problems.append(
            _odd(name, 1, 1, "starts with a byte order mark, which ptxas rejects: save it without")
        )
        data = data[len(_BOM) :]
    _refuse_binary(data)
    _refuse_long_lines(data)
    match = _NOT_ASCII.search(data)
    if match is None:
        return Source(name, data.decode("ascii")), tuple(problems)
    line, column = _place(data, match.start())
    problems.append(_odd(name, line, column, "character outside ASCII, which ptxas rejects even in comments"))
    return Source(name, data.decode("utf-8", errors="replace")), tuple(problems)


def _refuse_binary(data: bytes) -> None:
    if not data.strip():
        raise UnreadableError("is empty")
    match = _BINARY.search(data)
    if match is None:
        return
    line, column = _place(data, match.start())
    what = {b"\x7fELF": "an ELF object", b"\x50\xed\x55\xba": "a fat binary"}.get(data[:4], "binary data")
    raise UnreadableError(f"is not PTX text but {what} (byte 0x{match[0].hex()})", line, column)


def _refuse_long_lines(data: bytes) -> None:
    start = 0
    line = 1
    while len(data) - start > MAX_LINE:
        end = data.rfind(b"\n", start, start + MAX_LINE)
        if end < 0:
            raise UnreadableError(f"line {line} is longer than {MAX_LINE >> 20} MiB", line, 1)
        line += data.count(b"\n", start, end + 1)
        start = end + 1


def _place(data: bytes, offset: int) -> tuple[int, int]:
    line = data.count(b"\n", 0, offset) + 1
    return line, offset - data.rfind(b"\n", 0, offset)


def _odd(name: str, line: int, column: int, message: str) -> Problem:
    return Problem(ProblemKind.INPUT, message, Position(name, line, column))
