"""Workflow commands of GitHub Actions, which show findings beside the lines of a pull request."""

from __future__ import annotations

from ..finding import Severity
from ..results import Report
from ..source import Position
from ..sources.demangled_names import kernel_name
from ..verdict import VerdictKind
from .grouping import Mistake, mistakes
from .plain import follows, summary, visible
from .verdicts import detail_lines, launch_line, run_lines

_NOTICED = (VerdictKind.UNKNOWN, VerdictKind.ASSUMES)
"""Verdicts that ask for something; violations are findings."""


def render_github(report: Report) -> str:
    """Return an annotation for each problem, finding and note, and a summary."""
    lines = [
        _command(
            "error",
            problem.position,
            f"ptxcheck: {problem.kind.value}",
            _with(problem.message, problem.detail),
        )
        for problem in report.problems
    ]
    lines += [_finding(each) for each in mistakes(report.active)]
    lines += [
        _command("notice", note.position, f"ptxcheck: {note.kind.value}", note.message)
        for note in report.notes
    ]
    lines += [
        _command(
            "notice",
            kernel.position,
            f"ptxcheck: {table.kind.value}",
            _with(kernel_name(kernel.name), launch_line(table), *map(" ".join, detail_lines(table))),
        )
        for kernel in report.kernels
        if (table := kernel.verification) is not None and table.kind in _NOTICED
    ]
    return "\n".join([*lines, _data(summary(report))]) + "\n"


def _finding(mistake: Mistake) -> str:
    finding = mistake.finding
    level = {Severity.SLOW: "warning", Severity.NOTE: "notice"}.get(finding.severity, "error")
    kernel = "" if finding.kernel is None else f"in {kernel_name(finding.kernel)}"
    file = finding.location.primary.file
    run = () if finding.counterexample is None else map(" ".join, run_lines(finding.counterexample, file))
    text = _with(finding.message, kernel, *run, *follows(mistake), finding.help)
    return _command(level, finding.location.primary, f"{finding.rule} {finding.name}", text)


def _with(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _command(level: str, position: Position, title: str, message: str) -> str:
    values = [f"file={_property(position.file)}"]
    if position.line > 0:
        values.append(f"line={position.line}")
        if position.column > 0:
            values.append(f"col={position.column}")
    values.append(f"title={_property(title)}")
    return f"::{level} {','.join(values)}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
