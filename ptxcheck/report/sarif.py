"""SARIF 2.1.0 for code scanning. The only module that knows sarif-om."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import sarif_om as sarif

from ..finding import (
    Confidence,
    Counterexample,
    Finding,
    Fix,
    Frame,
    Location,
    Related,
    Severity,
    Step,
)
from ..results import (
    KernelResult,
    KernelVerdicts,
    Note,
    Problem,
    PropertyVerdict,
    Report,
    RuleInfo,
)
from ..source import Position, Span
from ..sources.demangled_names import kernel_name, short_name
from ..verdict import VerdictKind
from ..version import __version__
from .grouping import mistakes
from .plain import visible
from .rule_page import markdown_page
from .verdicts import launch_line, one_line

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "ptxcheck/v1"
_ROOT = "%SRCROOT%"
_OPEN = (VerdictKind.UNKNOWN, VerdictKind.ASSUMES)
_ROOT_IS = "The root of the repository, or without one the folder that ptxcheck was run in."


def render_sarif(report: Report, fixes: Mapping[str, Fix] | None = None) -> str:
    """Return the report as a SARIF log with one run; `fixes` are repairs by the fingerprint of their finding.

    What follows from a finding is a related location of it, unless there is a repair for it. Of the rules it has those
    that its results name: a log is uploaded, and all of them are half a megabyte.
    """
    following = {id(mistake.finding): mistake.follow for mistake in mistakes(report.active)}
    hidden = {
        id(each) for follow in following.values() for each in follow if each.fingerprint not in (fixes or {})
    }
    results = [finding for finding in report.findings if id(finding) not in hidden]
    mentioned = {finding.rule for finding in results}
    rules = [rule for rule in report.rules if rule.id in mentioned]
    indices = {rule.id: index for index, rule in enumerate(rules)}
    driver = sarif.ToolComponent(
        name="ptxcheck",
        version=__version__,
        semantic_version=__version__,
        rules=[_rule(rule) for rule in rules],
        notifications=[_verdict_descriptor(kind) for kind in _OPEN],
    )
    notifications = [_problem(problem) for problem in report.problems] + [
        _note(note) for note in report.notes
    ]
    notifications += [
        _undecided(kernel, kernel.verification)
        for kernel in report.kernels
        if kernel.verification is not None and kernel.verification.kind in _OPEN
    ]
    run = sarif.Run(
        tool=sarif.Tool(driver=driver),
        column_kind="unicodeCodePoints",
        original_uri_base_ids={_ROOT: sarif.ArtifactLocation(description=sarif.Message(text=_ROOT_IS))},
        results=[
            _result(finding, indices, (fixes or {}).get(finding.fingerprint), following.get(id(finding), ()))
            for finding in results
        ],
        invocations=[
            sarif.Invocation(
                execution_successful=not report.problems,
                tool_execution_notifications=notifications,
            )
        ],
    )
    if any(kernel.verification is not None for kernel in report.kernels):
        run.properties = {"verifications": [*_verifications(report.kernels)]}
    log = sarif.SarifLog(version="2.1.0", schema_uri=SCHEMA, runs=[run])
    return json.dumps(_plain(log), indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Return an object of sarif-om as JSON values, with what is absent or default left out."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    fields = getattr(type(value), "__attrs_attrs__", None)
    if fields is None:
        return value
    kept = ((field, getattr(value, field.name)) for field in fields)
    return {
        field.metadata["schema_property_name"]: _plain(item)
        for field, item in kept
        if item is not None and (item not in (-1, -1.0) or isinstance(item, bool))
    }


def _level(severity: Severity) -> str:
    return {Severity.SLOW: "warning", Severity.NOTE: "note"}.get(severity, "error")


def _rule(rule: RuleInfo) -> Any:
    tags = ["cuda", "ptx", rule.severity.value, *(["pedantic"] if rule.pedantic else [])]
    return sarif.ReportingDescriptor(
        id=rule.id,
        name=rule.name,
        short_description=_text(rule.summary),
        full_description=_text(f"{rule.summary} {rule.consequence}"),
        help=sarif.MultiformatMessageString(text=rule.advice, markdown=markdown_page(rule)),
        default_configuration=sarif.ReportingConfiguration(level=_level(rule.severity)),
        properties={
            "precision": "very-high" if rule.confidence is Confidence.PROVED else "medium",
            "problem.severity": {"note": "recommendation"}.get(_level(rule.severity), _level(rule.severity)),
            "section": rule.section,
            "since": rule.since,
            "tags": tags,
        },
    )


def _verdict_descriptor(kind: VerdictKind) -> Any:
    text = {
        VerdictKind.UNKNOWN: "A property of a kernel was not decided.",
        VerdictKind.ASSUMES: "The properties of a kernel hold if what is listed does.",
    }[kind]
    return sarif.ReportingDescriptor(id=f"verification/{kind.value}", short_description=_text(text))


def _text(text: str) -> Any:
    return sarif.MultiformatMessageString(text=text)


def _result(
    finding: Finding, indices: dict[str, int], fix: Fix | None, follow: Sequence[Finding] = ()
) -> Any:
    level = _level(finding.severity)
    if finding.confidence is Confidence.POSSIBLE and level == "error":
        level = "warning"
    return sarif.Result(
        rule_id=finding.rule,
        rule_index=indices.get(finding.rule, -1),
        kind="fail",
        level=level,
        message=_message(finding.message + (f"\n{finding.help}" if finding.help else "")),
        locations=[_location(finding.location, finding.kernel)],
        related_locations=_numbered(
            [
                *_frames(finding.location),
                *(_related(related) for related in finding.related),
                *(_related(Related(f"so: {each.rule} {each.message}", each.location)) for each in follow),
            ]
        ),
        code_flows=None if finding.counterexample is None else [_code_flow(finding.counterexample)],
        partial_fingerprints={FINGERPRINT: finding.fingerprint} if finding.fingerprint else None,
        suppressions=_suppressions(finding),
        fixes=None if fix is None else [_fix(fix)],
        properties={"confidence": finding.confidence.value, "severity": finding.severity.value},
    )


def _fix(fix: Fix) -> Any:
    replacements = [
        sarif.Replacement(
            deleted_region=sarif.Region(
                start_line=each.start.line,
                start_column=each.start.column,
                end_line=each.end.line,
                end_column=each.end.column,
            ),
            inserted_content=sarif.ArtifactContent(text=each.text),
        )
        for each in fix.replacements
    ]
    change = sarif.ArtifactChange(_artifact(fix.replacements[0].start.file), replacements)
    return sarif.Fix([change], description=_message(fix.description))


def _suppressions(finding: Finding) -> list[Any]:
    if finding.suppressed is not None:
        return [sarif.Suppression(kind="inSource", justification=finding.suppressed)]
    if finding.baselined:
        return [sarif.Suppression(kind="external", justification="in the baseline")]
    return []


def _code_flow(run: Counterexample[Location]) -> Any:
    """Return a run as a code flow with a thread flow for each role; the order is that of the whole run."""
    closing = "; ".join(part for part in (*run.state, f"needed: {run.needed}" if run.needed else "") if part)
    inputs = f"; {', '.join(run.inputs)}" if run.inputs else ""
    return sarif.CodeFlow(
        message=_message(f"{run.launch}{inputs}. {closing}"),
        thread_flows=[
            sarif.ThreadFlow(
                id=visible(role.name),
                message=_message(role.name),
                locations=[_flow_location(step, run.bad) for step in role.steps],
            )
            for role in run.roles
        ],
    )


def _flow_location(step: Step[Location], bad: int) -> Any:
    place = sarif.Location(physical_location=_physical(step.place.primary), message=_message(step.text))
    return sarif.ThreadFlowLocation(
        location=place,
        execution_order=step.order,
        importance="essential" if step.order == bad else "important",
        stack=_stack(step.place),
    )


def _stack(location: Location) -> Any:
    """Return the inline stack, innermost first."""
    if len(location.frames) < 2:
        return None
    return sarif.Stack(frames=[sarif.StackFrame(location=_frame(frame)) for frame in location.frames])


def _verifications(kernels: Sequence[KernelResult]) -> Iterator[dict[str, Any]]:
    """Yield the verdicts on kernels, each with what it is shown by and what it takes for granted."""
    for kernel in kernels:
        if kernel.verification is not None:
            table = kernel.verification
            yield {
                "kernel": kernel.name,
                "verdict": table.kind.value,
                "evidence": table.evidence.value,
                "properties": [_of_property(each) for each in table.verdicts],
            }


def _of_property(verdict: PropertyVerdict) -> dict[str, Any]:
    taken = (
        (each.source.value, visible(each.text)) for each in verdict.assumptions if each.source is not None
    )
    return {
        "property": verdict.property.value,
        "verdict": verdict.kind.value,
        "evidence": verdict.evidence.value,
        "assumptions": [{"source": source, "text": text} for source, text in dict.fromkeys(taken)],
    }


def _undecided(kernel: KernelResult, table: KernelVerdicts) -> Any:
    """Return what was not decided of a kernel. No result: code scanning would show it as an alert."""
    text = f"{kernel_name(kernel.name)}, {launch_line(table)}: {one_line(table)}"
    at = Location(kernel.position, Span(0, 0))
    return sarif.Notification(
        message=_message(text), level="note", locations=[_location(at, kernel.name)],
        descriptor=sarif.ReportingDescriptorReference(id=f"verification/{table.kind.value}"),
    )  # fmt: skip


def _message(text: str) -> Any:
    """Return a plain text message; brackets and backslashes would be read as links, so they are escaped."""
    escaped = visible(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return sarif.Message(text=escaped)


def _location(location: Location, kernel: str | None) -> Any:
    logical = None
    if kernel is not None:
        logical = [
            sarif.LogicalLocation(
                name=kernel_name(kernel), fully_qualified_name=kernel, decorated_name=kernel, kind="function"
            )
        ]
    return sarif.Location(physical_location=_physical(location.primary), logical_locations=logical)


def _physical(position: Position) -> Any:
    region = None
    if position.line > 0:
        region = sarif.Region(start_line=position.line, start_column=position.column or None)
    return sarif.PhysicalLocation(artifact_location=_artifact(position.file), region=region)


def _artifact(path: str) -> Any:
    name = path.replace("\\", "/")
    if os.path.isabs(name):
        return sarif.ArtifactLocation(uri="file://" + quote(name, errors="replace"))
    return sarif.ArtifactLocation(uri=quote(name.removeprefix("./"), errors="replace"), uri_base_id=_ROOT)


def _frames(location: Location) -> list[Any]:
    """Return the inline stack, innermost first, and the place in the PTX."""
    found = [_frame(frame) for frame in location.frames if len(location.frames) > 1]
    if location.shown is not None:
        found.append(
            sarif.Location(physical_location=_physical(location.ptx), message=_message("in the PTX"))
        )
    return found


def _frame(frame: Frame) -> Any:
    name = "" if frame.function is None else f"in {short_name(frame.function)}"
    return sarif.Location(
        physical_location=_physical(frame.position), message=_message(name) if name else None
    )


def _related(related: Related) -> Any:
    return sarif.Location(
        physical_location=_physical(related.location.primary), message=_message(related.message)
    )


def _numbered(locations: Sequence[Any]) -> list[Any]:
    for number, location in enumerate(locations):
        location.id = number
    return list(locations)


def _problem(problem: Problem) -> Any:
    text = problem.message + (f"\n{problem.detail}" if problem.detail else "")
    return sarif.Notification(message=_message(text), level="error", locations=[_at(problem)])


def _note(note: Note) -> Any:
    return sarif.Notification(message=_message(note.message), level="note", locations=[_at(note)])


def _at(item: Problem | Note) -> Any:
    return _location(Location(item.position, Span(0, 0)), item.kernel)
