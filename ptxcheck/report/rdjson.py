"""Reviewdog's diagnostic format: findings as comments of a review, on many services.

The shape is that of the `DiagnosticResult` message of reviewdog's `rdf.proto`.
"""

from __future__ import annotations

import json
from typing import Any

from ..finding import Severity
from ..results import Report
from ..source import Position
from .grouping import mistakes
from .plain import follows, visible

_SEVERITIES = {Severity.SLOW: "WARNING", Severity.NOTE: "INFO"}


def render_rdjson(report: Report) -> str:
    """Return problems and findings as one JSON object; suppressed findings are left out."""
    problems = [
        _diagnostic(
            problem.position, f"{problem.message}\n{problem.detail}".rstrip(), "ERROR", problem.kind.value
        )
        for problem in report.problems
    ]
    findings = [
        _diagnostic(
            each.finding.location.primary,
            "\n".join(
                filter(
                    None, [f"{each.finding.name}: {each.finding.message}", *follows(each), each.finding.help]
                )
            ),
            _SEVERITIES.get(each.finding.severity, "ERROR"),
            each.finding.rule,
        )
        for each in mistakes(report.active)
    ]
    value = {"source": {"name": "ptxcheck"}, "diagnostics": [*problems, *findings]}
    return json.dumps(value, indent=2) + "\n"


def _diagnostic(position: Position, message: str, severity: str, code: str) -> dict[str, Any]:
    location: dict[str, Any] = {"path": position.file.removeprefix("./")}
    if position.line > 0:
        start = {"line": position.line} | ({"column": position.column} if position.column > 0 else {})
        location["range"] = {"start": start}
    return {
        "message": visible(message),
        "location": location,
        "severity": severity,
        "code": {"value": code},
    }
