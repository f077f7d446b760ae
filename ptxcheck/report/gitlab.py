"""Code quality reports of GitLab: a list of issues, shown in merge requests."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from ..finding import Severity
from ..results import Report
from ..source import Position
from .grouping import mistakes
from .plain import visible, with_more

_SEVERITIES = {Severity.SLOW: "minor", Severity.NOTE: "info", Severity.WRONG_RESULT: "critical"}


def render_gitlab(report: Report) -> str:
    """Return problems and findings as a JSON list; suppressed findings are left out."""
    issues = [
        _issue("ptxcheck", problem.message, "blocker", problem.position, f"problem {problem.message}")
        for problem in report.problems
    ] + [
        _issue(
            each.finding.rule,
            f"{each.finding.name}: {with_more(each)}",
            _SEVERITIES.get(each.finding.severity, "critical"),
            each.finding.location.primary,
            each.finding.fingerprint,
        )
        for each in mistakes(report.active)
    ]
    return json.dumps(_distinct(issues), indent=2) + "\n"


def _issue(rule: str, text: str, severity: str, position: Position, identity: str) -> dict[str, Any]:
    return {
        "description": visible(text),
        "check_name": rule,
        "fingerprint": identity,
        "severity": severity,
        "location": {
            "path": position.file.removeprefix("./"),
            "lines": {"begin": max(position.line, 1)},
        },
    }


def _distinct(issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make each fingerprint one of a kind, as GitLab wants: by file, and by a number for equal ones."""
    seen: Counter[tuple[str, str]] = Counter()
    made = []
    for issue in issues:
        key = (issue["location"]["path"], issue["fingerprint"])
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        made.append({**issue, "fingerprint": hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]})
    return made
