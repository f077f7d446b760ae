"""Writing suppressions: the comments that `ptxcheck: ignore` understands, above the lines of findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..finding import Finding


def ignore_comment(text: str, start: int, rules: Iterable[str], reason: str, *, python: bool) -> str | None:
    """Return the comment to insert at the start of a line, with the indentation and the end of that line.

    None where it would come between two lines of a macro.
    """
    before = text[:start].rstrip("\r\n")
    if before.endswith("\\"):
        return None
    line, end = text[start:], text.find("\n", start)
    line = line if end < 0 else text[start:end]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    newline = "\r\n" if line.endswith("\r") else "\n"
    return f"{indent}{'#' if python else '//'} ptxcheck: ignore[{', '.join(rules)}] {reason}{newline}"


@dataclass
class Suppressions:
    """New texts of files, and the findings that no comment was written for, each with why."""

    texts: dict[str, str] = field(default_factory=dict)
    written: int = 0
    left: list[tuple[Finding, str]] = field(default_factory=list)


def suppressions(
    findings: Iterable[Finding], reason: str, owned: Callable[[str], bool], read: Callable[[str], str | None]
) -> Suppressions:
    """Return the files of findings with a comment above each line, one for all rules that it breaks.

    Only files that are `owned` are changed; `read` gives their texts, None for what cannot be changed.
    """
    made = Suppressions()
    lines: dict[str, dict[int, dict[str, None]]] = {}
    for finding in findings:
        place = finding.location.primary
        text = read(place.file) if owned(place.file) else None
        if text is None or place.line < 1:
            made.left.append((finding, "its file is not one of those that are checked"))
            continue
        start = _line_start(text, place.line)
        if ignore_comment(text, start, [finding.rule], reason, python=False) is None:
            made.left.append((finding, "it is inside a macro of several lines"))
            continue
        lines.setdefault(place.file, {}).setdefault(place.line, {})[finding.rule] = None
        made.written += 1
    for file, rules in sorted(lines.items()):
        text = read(file) or ""
        for line in sorted(rules, reverse=True):
            start = _line_start(text, line)
            comment = ignore_comment(text, start, sorted(rules[line]), reason, python=file.endswith(".py"))
            text = text[:start] + (comment or "") + text[start:]
        made.texts[file] = text
    return made


def _line_start(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at


def own_files(inputs: Iterable[str]) -> Callable[[str], bool]:
    """Return a test for files that may be changed: those that are checked, and others below the current folder."""
    known = {os.path.realpath(path) for path in inputs}
    here = os.path.realpath(".") + os.sep

    def owned(file: str) -> bool:
        path = os.path.realpath(file)
        return os.path.isfile(path) and (path in known or path.startswith(here))

    return owned


def text_of(file: str) -> str | None:
    """Return the text of a file with its own line ends, None when it is not one that can be written back."""
    try:
        return Path(file).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
