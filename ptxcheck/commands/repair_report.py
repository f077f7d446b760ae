"""Repairs as text for people and as JSON values for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..finding import Finding
    from ..patching.host_repair import HostOutcome
    from ..patching.source_repair import SourceOutcome
    from ..repair.patch import Patch
    from ..repair.weighing import Outcome

_LEGAL = "the call is legal then, for the same tensor; nothing tells that this is what was meant"


def outcome_text(outcome: Outcome) -> str:
    """Return repairs for people."""
    lines: list[str] = []
    for done in outcome.repairs:
        lines.append(_headline(done.finding))
        lines += [f"  {done.safety.value}: {patch.summary}" for patch in done.patches]
        lines += [f"    {evidence}" for evidence in done.evidence]
    for finding in outcome.left:
        place = finding.location.primary
        lines.append(f"{place.file}:{place.line}: {finding.rule} {finding.name}: no repair found")
    return _summed(lines, len(outcome.repairs), len(outcome.left))


def outcome_table(outcome: Outcome) -> dict[str, Any]:
    """Return repairs as JSON values."""
    return {
        "repairs": [
            {
                "rule": done.finding.rule,
                "kernel": done.finding.kernel,
                "line": done.finding.location.ptx.line,
                "message": done.finding.message,
                "safety": done.safety.value,
                "patches": _patch_rows(done.patches),
                "evidence": list(done.evidence),
            }
            for done in outcome.repairs
        ],
        "left": [
            {"rule": f.rule, "kernel": f.kernel, "line": f.location.ptx.line, "message": f.message}
            for f in outcome.left
        ],
    }


def source_text(outcome: SourceOutcome) -> str:
    """Return repairs of a source for people."""
    lines: list[str] = []
    for done in outcome.repairs:
        lines += [_headline(done.finding), f"  {done.safety.value}: {done.summary}"]
        lines += [f"    {evidence}" for evidence in done.evidence]
    known = {id(finding): summary for finding, summary in outcome.only_ptx}
    for finding in outcome.left:
        lines.append(_headline(finding))
        summary = known.get(id(finding))
        lines.append(
            "  no repair found"
            if summary is None
            else f"  no change of the source found; in its PTX: {summary}"
        )
    return _summed(lines, len(outcome.repairs), len(outcome.left))


def source_table(outcome: SourceOutcome) -> dict[str, Any]:
    """Return repairs of a source as JSON values."""
    return {
        "repairs": [
            {
                **_finding_row(done.finding),
                "safety": done.safety.value,
                "change": done.summary,
                "patches": _patch_rows(done.patches),
                "evidence": list(done.evidence),
            }
            for done in outcome.repairs
        ],
        "left": [_finding_row(finding) for finding in outcome.left],
        "only_ptx": [{**_finding_row(finding), "change": summary} for finding, summary in outcome.only_ptx],
    }


def host_text(path: str, outcome: HostOutcome) -> str:
    """Return repairs of encode calls for people, "" where nothing is found."""
    lines: list[str] = []
    for done in outcome.repairs:
        lines += [_headline(done.finding), f"  suggested: {done.summary}", f"    {_LEGAL}"]
    for finding in outcome.left:
        lines += [_headline(finding), "  no repair found"]
    if lines:
        lines.append(f"encode calls of {path}: {len(outcome.repairs)} suggested, {len(outcome.left)} left")
    return "".join(f"{line}\n" for line in lines)


def host_rows(outcome: HostOutcome) -> list[dict[str, Any]]:
    """Return repairs of encode calls, and findings that are left, as JSON values."""
    done = [
        {**_finding_row(each.finding), "safety": "suggested", "change": each.summary}
        for each in outcome.repairs
    ]
    return [*done, *({**_finding_row(each), "safety": None, "change": None} for each in outcome.left)]


def _headline(finding: Finding) -> str:
    place = finding.location.primary
    return f"{place.file}:{place.line}: {finding.rule} {finding.name}: {finding.message}"


def _summed(lines: list[str], repaired: int, left: int) -> str:
    lines.append(f"{repaired} repaired, {left} left" if repaired or left else "nothing to repair")
    return "\n".join(lines) + "\n"


def _finding_row(finding: Finding) -> dict[str, Any]:
    place = finding.location.primary
    return {
        "rule": finding.rule,
        "kernel": finding.kernel,
        "file": place.file,
        "line": place.line,
        "message": finding.message,
    }


def _patch_rows(patches: Iterable[Patch]) -> list[dict[str, str]]:
    return [{"strategy": patch.strategy, "summary": patch.summary} for patch in patches]
