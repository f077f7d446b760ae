"""One line a finding: `file:line:column: severity[RULE] message`."""

from __future__ import annotations

import click

from ..results import Report
from ..sources.demangled_names import short_name
from .plain import (
    COLORS,
    place,
    summary,
    visible,
)
from .verdicts import VERDICT_COLORS, launch_line, one_line


def render_concise(report: Report, *, color: bool = False) -> str:
    """Return one line for each problem, finding and note, and a summary."""
    lines = [
        f"{place(problem.position)}: {_paint(f'error[{problem.kind.value}]', 'red', color)} "
        f"{_one_line(problem.message)}"
        for problem in report.problems
    ]
    lines += [
        f"{place(finding.location.primary)}: "
        f"{_paint(f'{finding.severity.value}[{finding.rule}]', COLORS[finding.severity], color)} "
        f"{_one_line(finding.message)}"
        for finding in report.active
    ]
    lines += [
        f"{place(note.position)}: {_paint('note', 'cyan', color)} {_one_line(note.message)}"
        for note in report.notes
    ]
    lines += [
        f"{place(kernel.position)}: {_paint(table.kind.value, VERDICT_COLORS[table.kind], color)} "
        f"{_one_line(f'{short_name(kernel.name)}, {launch_line(table)}: {one_line(table)}')}"
        for kernel in report.kernels
        if (table := kernel.verification) is not None
    ]
    return "\n".join([*lines, summary(report)]) + "\n"


def _paint(text: str, fg: str, color: bool) -> str:
    return click.style(text, fg=fg, bold=True) if color else text


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
