"""JSON for programs. The shape is described in `docs/json.md`; `SCHEMA_VERSION` grows when it changes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..finding import (
    Counterexample,
    Finding,
    Frame,
    Location,
)
from ..launch import Launch
from ..results import (
    KernelResult,
    KernelVerdicts,
    Note,
    Problem,
    Remark,
    Report,
    RuleInfo,
)
from ..source import Position
from ..version import __version__

SCHEMA_VERSION = 1


def render_json(report: Report) -> str:
    """Return the whole report, suppressed findings included, as one JSON object."""
    value = {
        "schema": SCHEMA_VERSION,
        "tool": {"name": "ptxcheck", "version": __version__},
        "inputs": list(report.inputs),
        "summary": _summary(report),
        "findings": [_finding(finding) for finding in report.findings],
        "problems": [_problem(problem) for problem in report.problems],
        "notes": [_note(note) for note in report.notes],
        "kernels": [_kernel(kernel) for kernel in report.kernels],
    }
    return json.dumps(value, indent=2) + "\n"


def render_json_lines(report: Report) -> str:
    """Return an object a line, each with its `type`: problems, findings that are to be reported, notes, the summary."""
    values = [{"type": "problem", **_problem(problem)} for problem in report.problems]
    values += [{"type": "finding", **_finding(finding)} for finding in report.active]
    values += [{"type": "note", **_note(note)} for note in report.notes]
    values.append({"type": "summary", **_summary(report)})
    return "".join(json.dumps(value) + "\n" for value in values)


def _summary(report: Report) -> dict[str, int]:
    return {
        "findings": len(report.active),
        "suppressed": len(report.suppressed),
        "baselined": len(report.baselined),
        "problems": len(report.problems),
        "kernels": len(report.kernels),
        "incomplete": len(report.incomplete),
    }


def render_rules(rules: tuple[RuleInfo, ...]) -> str:
    """Return the texts of rules as a JSON list."""
    return json.dumps([rule_object(rule) for rule in rules], indent=2) + "\n"


def rule_object(rule: RuleInfo) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "pedantic": rule.pedantic,
        "since": rule.since,
        "section": rule.section,
        "summary": rule.summary,
        "consequence": rule.consequence,
        "advice": rule.advice,
        "bad": rule.bad,
        "good": rule.good,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "help": finding.help,
        "kernel": finding.kernel,
        "location": _location(finding.location),
        "related": [
            {"message": related.message, "location": _location(related.location)}
            for related in finding.related
        ],
        "counterexample": None if finding.counterexample is None else _run(finding.counterexample),
        "fingerprint": finding.fingerprint,
        "caused_by": finding.caused_by or None,
        "suppressed": finding.suppressed,
        "baselined": finding.baselined,
    }


def _location(location: Location) -> dict[str, Any]:
    return {
        **_position(location.primary),
        "ptx": {**_position(location.ptx), "start": location.span.start, "end": location.span.end},
        "frames": [_frame(frame) for frame in location.frames],
    }


def _position(position: Position) -> dict[str, Any]:
    return {"file": position.file, "line": position.line or None, "column": position.column or None}


def _frame(frame: Frame) -> dict[str, Any]:
    return {**_position(frame.position), "function": frame.function}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "kind": problem.kind.value,
        "message": problem.message,
        "detail": problem.detail,
        "kernel": problem.kernel,
        **_position(problem.position),
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "kind": note.kind.value,
        "message": note.message,
        "kernel": note.kernel,
        **_position(note.position),
    }


def _kernel(kernel: KernelResult) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "entry": kernel.entry,
        **_position(kernel.position),
        "instructions": kernel.instructions,
        "complete": kernel.complete,
        "launch": _launch(kernel.launch),
        "verification": None if kernel.verification is None else _verdicts(kernel.verification),
    }


def _verdicts(table: KernelVerdicts) -> dict[str, Any]:
    return {
        "verdict": table.kind.value,
        "evidence": table.evidence.value,
        "block": None if table.block is None else list(table.block),
        "block_from": table.block_origin.strip("`") or None,
        "cluster_from": table.cluster_origin.strip("`") or None,
        "cluster": None if table.cluster is None else list(table.cluster),
        "inferred": table.inferred,
        "given": list(table.given),
        "facts": list(table.facts),
        "properties": [
            {
                "property": each.property.value,
                "verdict": each.kind.value,
                "evidence": each.evidence.value,
                "assumptions": _assumptions(each.assumptions),
                "open": None if each.openness is None else each.openness.value,
                "reasons": _remarks(each.reasons),
            }
            for each in table.verdicts
        ],
        "other_launches": list(table.other_launches),
        "equations": list(table.equations),
        "assumptions": _assumptions(table.assumptions),
        "runs": table.runs,
        "trips": list(table.trips),
        "cross_check": None if table.cross_check is None else asdict(table.cross_check),
    }


def _remarks(remarks: tuple[Remark, ...]) -> list[dict[str, Any]]:
    return [
        {
            "text": remark.text,
            "location": None if remark.location is None else _location(remark.location),
            "advice": remark.advice or None,
        }
        for remark in remarks
    ]


def _assumptions(remarks: tuple[Remark, ...]) -> list[dict[str, Any]]:
    sources = ({"source": None if each.source is None else each.source.value} for each in remarks)
    return [{**source, **each} for source, each in zip(sources, _remarks(remarks), strict=True)]


def _run(run: Counterexample[Location]) -> dict[str, Any]:
    return {
        "launch": run.launch,
        "inputs": list(run.inputs),
        "roles": [
            {
                "name": role.name,
                "earlier": role.earlier,
                "steps": [
                    {"order": step.order, "text": step.text, "location": _location(step.place)}
                    for step in role.steps
                ],
            }
            for role in run.roles
        ],
        "bad": run.bad,
        "state": list(run.state),
        "needed": run.needed,
    }


def _launch(launch: Launch) -> dict[str, Any]:
    return {
        "block": None if launch.block is None else list(launch.block),
        "cluster": None if launch.cluster is None else list(launch.cluster),
        "max_threads": launch.max_threads,
        "given": {value.name: value.value for value in launch.given},
    }
