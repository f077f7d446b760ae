"""The page of one rule: as Markdown for SARIF and the documentation, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, indent

from ..results import RuleInfo

_KEY = "`-` marks the lines of the bad kernel alone, `+` those of the good one."


def markdown_page(rule: RuleInfo) -> str:
    """Return what `ptxcheck explain` says, in Markdown."""
    return (
        f"# {rule.id} {rule.name}\n\n"
        f"{rule.summary}\n\n"
        f"**Why it matters** ({rule.severity.value}): {rule.consequence}\n\n"
        f"**What to do**: {rule.advice}\n\n"
        f"**Source**: {rule.section}. Since ptxcheck {rule.since}.{_markdown_default(rule)}\n\n"
        f"## Example\n\n{_KEY}\n\n```diff\n{_shown(rule)}\n```\n"
    )


def _markdown_default(rule: RuleInfo) -> str:
    why = _off_by_default(rule)
    return "" if why is None else f"\n\n**Off by default**: {why}"


def text_page(rule: RuleInfo, width: int = 88) -> str:
    """Return the same for a terminal."""
    why = _off_by_default(rule)
    parts = [
        f"{rule.id} {rule.name} ({rule.severity.value})",
        fill(rule.summary, width),
        fill(f"Why it matters: {rule.consequence}", width),
        fill(f"What to do: {rule.advice}", width),
        *([] if why is None else [fill(f"Off by default: {why}", width)]),
        fill(f"Source: {rule.section}. Since ptxcheck {rule.since}.", width),
        fill(f"Example. {_KEY}", width),
        indent(_shown(rule), "    "),
    ]
    return "\n\n".join(parts) + "\n"


def _shown(rule: RuleInfo) -> str:
    return rule.difference.strip("\n")


def _off_by_default(rule: RuleInfo) -> str | None:
    if rule.pedantic:
        return "the documents forbid this, but released libraries rely on it; turn it on with --pedantic."
    if rule.confidence.value == "possible":
        return "the analysis can only say that it cannot exclude this; turn it on with --possible."
    return None


def rule_table(rules: Sequence[RuleInfo]) -> str:
    """Return a line for each rule: id, severity, name, and a mark when it is off by default."""
    if not rules:
        return "no rules\n"
    widths = [max(len(text) for text in column) for column in zip(*map(_cells, rules), strict=True)]
    lines = (
        "  ".join(f"{text:<{width}}" for text, width in zip(_cells(rule), widths, strict=True)).rstrip()
        for rule in rules
    )
    return "\n".join(lines) + "\n"


def _cells(rule: RuleInfo) -> tuple[str, str, str, str]:
    mark = "pedantic" if rule.pedantic else "possible" if _off_by_default(rule) else ""
    return rule.id, rule.severity.value, rule.name, mark
