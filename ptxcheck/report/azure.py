"""Logging commands of Azure Pipelines, which show findings on the page of a run.

The commands and their escapes: Azure DevOps documentation, "Logging commands", `task.logissue`.
"""

from __future__ import annotations

from ..finding import Severity
from ..results import Report
from ..source import Position
from .grouping import mistakes
from .plain import summary, visible, with_more

_WARNINGS = (Severity.SLOW, Severity.NOTE)


def render_azure(report: Report) -> str:
    """Return a command for each problem and finding, and a summary."""
    lines = [
        _command(
            "error", problem.position, problem.kind.value, f"{problem.message}\n{problem.detail}".rstrip()
        )
        for problem in report.problems
    ]
    lines += [
        _command(
            "warning" if each.finding.severity in _WARNINGS else "error",
            each.finding.location.primary,
            each.finding.rule,
            f"{each.finding.name}: {with_more(each)}",
        )
        for each in mistakes(report.active)
    ]
    return "\n".join([*lines, visible(summary(report))]) + "\n"


def _command(level: str, position: Position, code: str, message: str) -> str:
    values = [f"type={level}", f"sourcepath={_escaped(position.file)}"]
    if position.line > 0:
        values.append(f"linenumber={position.line}")
        if position.column > 0:
            values.append(f"columnnumber={position.column}")
    values.append(f"code={_escaped(code)}")
    return f"##vso[task.logissue {';'.join(values)}]{_escaped(message)}"


def _escaped(text: str) -> str:
    escapes = {"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"}
    return "".join(escapes.get(character, character) for character in visible(text))
