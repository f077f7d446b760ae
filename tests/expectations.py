"""`// expect: MB003` comments: which rules fire at which lines of an annotated kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.results import Report
from ptxcheck.rules import Rule
from ptxcheck.source import Source

_EXPECT = re.compile(r"(?://|#)\s*expect:\s*([A-Z]{2}\d{3}(?:\s*,\s*[A-Z]{2}\d{3})*)")

Mark = tuple[str, int]
"""A rule's id and a line."""


def marks(source: Source) -> list[Mark]:
    """Return what the comments of a text expect; a comment that stands alone is about the next line."""
    found: list[Mark] = []
    for match in _EXPECT.finditer(source.text):
        position = source.position(match.start())
        alone = not source.line_text(position.line)[: position.column - 1].strip()
        found += [(name.strip(), position.line + alone) for name in match[1].split(",")]
    return sorted(found)


def expected(source: Source, rule_id: str) -> list[Mark]:
    return [mark for mark in marks(source) if mark[0] == rule_id]


def found(source: Source, rule: Rule) -> list[Mark]:
    config = Config(pedantic=True, possible=True)
    report = ptxcheck.check(source, rules=(rule,), config=config)
    assert report.problems == (), report.problems
    return fired(report)


def fired(report: Report, files: Iterable[str] | None = None) -> list[Mark]:
    """Return each rule and line of the findings, once."""
    chosen = None if files is None else set(files)
    return sorted(
        {
            (finding.rule, finding.location.primary.line)
            for finding in report.active
            if chosen is None or finding.location.primary.file in chosen
        }
    )
