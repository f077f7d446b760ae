"""One line a finding: `file:line:column: severity[RULE] message`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ..results import Report
from ..source import Position
from ..sources.demangled_names import kernel_name
from ..verdict import VerdictKind
from .grouping import mistakes
from .plain import (
    COLORS,
    place,
    summary,
    told_kind,
    visible,
)
from .verbosity import Verbosity
from .verdicts import VERDICT_COLORS, launch_line, one_line

MOST_CHARACTERS = 160
_LEAST_TEXT = 40
"""Characters of the text that are shown however long the name of the file is."""


def render_concise(report: Report, *, color: bool = False, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """Return one line for each problem, mistake and note, and for each kernel that does not plainly hold; a summary."""
    lines = [
        _line(problem.position, f"error[{problem.kind.value}]", "red", problem.message, color)
        for problem in report.problems
    ]
    lines += [
        _line(
            each.finding.location.primary,
            f"{each.finding.severity.value}[{each.finding.rule}]",
            COLORS[each.finding.severity],
            each.finding.message,
            color,
        )
        for each in mistakes(report.active)
    ]
    if verbosity is not Verbosity.QUIET:
        lines += [_line(note.position, "note", "cyan", note.message, color) for note in report.notes]
        lines += _kernels(report, color, whole=verbosity is Verbosity.VERBOSE)
    return "\n".join([*lines, summary(report)]) + "\n"


def _kernels(report: Report, color: bool, *, whole: bool) -> Iterator[str]:
    told = {finding.kernel for finding in report.active}
    for kernel in report.kernels:
        table = kernel.verification
        is_told = table is not None and table.kind is VerdictKind.VIOLATED and kernel.name in told
        if table is not None and (whole or not (table.is_plain or is_told)):
            said = one_line(table, kernel.position.file, whole=whole)
            text = f"{kernel_name(kernel.name)}, {launch_line(table, kernel.position.file)}: {said}"
            yield _line(
                kernel.position,
                told_kind(table.kind, table.evidence),
                VERDICT_COLORS[table.kind],
                text,
                color,
            )


def _line(position: Position, word: str, fg: str, text: str, color: bool) -> str:
    """Return a line of bounded length; only a long name of a file exceeds it."""
    head = f"{place(position)}: {word} "
    room = max(MOST_CHARACTERS - len(head), _LEAST_TEXT)
    shown = visible(" ".join(text.split()))
    cut = shown if len(shown) <= room else f"{shown[: room - 2].rsplit(' ', 1)[0]} …"
    return f"{place(position)}: {_paint(word, fg, color)} {cut}"


def _paint(text: str, fg: str, color: bool) -> str:
    return click.style(text, fg=fg, bold=True) if color else text
