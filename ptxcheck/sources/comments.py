"""Comments that speak to ptxcheck: `// ptxcheck: ignore[MB003] reason`, `// ptxcheck: launch block=384`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ..source import Position, Source


class Verb(Enum):
    """What a comment asks for."""

    IGNORE = "ignore"
    IGNORE_FILE = "ignore-file"
    LAUNCH = "launch"
    ASSUME = "assume"
    TENSOR_MAP = "tensor-map"
    ARCH = "arch"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment to ptxcheck. `verb` is None when it is not understood."""

    position: Position
    verb: Verb | None
    rules: tuple[str, ...] = ()
    text: str = ""
    """The reason of an `ignore`, the arguments of any other."""
    target_line: int = 0
    """The line it is about: its own, or the next line of code when it stands alone."""


_COMMENT = re.compile(r"(?://|/\*|#)\s*ptxcheck:[ \t]*(?P<verb>[A-Za-z-]*)(?P<rest>[^\r\n]*)")
_RULES = re.compile(r"\s*\[([^\]]*)\]\s*")
_ONLY_COMMENT = re.compile(
    r"\s*(?://|/\*(?!.*\*/\s*[^\s/])|\*(?:[\s/]|$)|#(?!\s*(?:include|define|if|el|en|un|pragma|line))|$)"
)
"""Lines without code; `*p = 1;` and `/* why */ call();` have some."""


def comments(source: Source) -> tuple[Comment, ...]:
    """Return the comments to ptxcheck in a text, in order."""
    if "ptxcheck:" not in source.text:
        return ()
    return tuple(_comments(source))


def _comments(source: Source) -> Iterator[Comment]:
    for match in _COMMENT.finditer(source.text):
        position = source.position(match.start())
        rest = match["rest"].split("*/")[0]
        verb = next((verb for verb in Verb if verb.value == match["verb"]), None)
        rules: tuple[str, ...] = ()
        bracket = _RULES.match(rest)
        if verb in (Verb.IGNORE, Verb.IGNORE_FILE):
            if bracket is None:
                verb = None
            else:
                rules = tuple(part.strip() for part in bracket[1].split(",") if part.strip())
                rest = rest[bracket.end() :]
        yield Comment(position, verb, rules, rest.strip(), _target_line(source, position))


def _target_line(source: Source, position: Position) -> int:
    if source.line_text(position.line)[: position.column - 1].strip():
        return position.line
    line = position.line + 1
    while (text := source.line_text(line)) and _ONLY_COMMENT.match(text):
        line += 1
    return line
