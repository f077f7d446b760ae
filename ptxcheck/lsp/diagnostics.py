"""A report as diagnostics of the protocol, by document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types

from ..finding import (
    Confidence,
    Counterexample,
    Finding,
    Frame,
    Location,
    Severity,
)
from ..report.grouping import Mistake, mistakes
from ..results import (
    Note,
    NoteKind,
    Problem,
    ProblemKind,
    Report,
)
from ..source import Position
from ..sources.demangled_names import short_name
from .text import LARGEST, Lines

SOURCE = "ptxcheck"
_STEPS = 40
"""Steps of a counterexample that are told; the command line tells all."""
_SEVERITY = {
    Severity.SLOW: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
WITHOUT_EFFECT = frozenset(("cp-async-wait-without-effect", "ignored-setmaxnreg"))
"""Rules about instructions that do nothing, which editors show faded."""
_COMPILER_LINE = re.compile(
    r"^(?P<file>[^\s(:][^(:\n]*)(?:\((?P<line>\d+)\)|:(?P<line2>\d+)(?::(?P<column>\d+))?)\s*:\s+"
    r"(?P<kind>(?:catastrophic |fatal )?error|warning)(?: *#[\w-]+)?: (?P<text>.*)$",
    re.MULTILINE,
)
"""What nvcc and the host compiler say: `file(line): error: text`, `file:line:column: error: text`."""


@dataclass(frozen=True)
class Shown:
    """A diagnostic, and the finding that it is of; None for problems and notes."""

    diagnostic: types.Diagnostic
    finding: Finding | None = None


@dataclass(frozen=True)
class Document:
    """What was checked: the text, the name that the report knows it by, and the identifier that the client knows."""

    uri: str
    name: str
    lines: Lines
    is_ptx: bool = True
    is_repairable: bool = True


@dataclass
class Diagnostics:
    """Makes diagnostics out of one report. `pages` maps rules to the pages that explain them."""

    document: Document
    report: Report
    pages: Mapping[str, str] = field(default_factory=dict)

    def by_document(self) -> dict[str, list[Shown]]:
        """Return the diagnostics of each document, that of the checked one first."""
        found: dict[str, list[Shown]] = {self.document.uri: []}
        for uri, shown in self._all():
            found.setdefault(uri, []).append(shown)
        return found

    def _all(self) -> Iterator[tuple[str, Shown]]:
        for problem in self.report.problems:
            yield from self._problem(problem)
        for mistake in mistakes(self.report.active):
            place = self._finding_place(mistake.finding.location)
            yield place.uri, Shown(self._finding(mistake, place.range), mistake.finding)
        for note in self.report.notes:
            if note.kind is not NoteKind.LINE_INFO:
                place = self._place(note.position)
                yield place.uri, Shown(self._note(note, place.range))

    # -- findings

    def _finding(self, mistake: Mistake, where: types.Range) -> types.Diagnostic:
        finding = mistake.finding
        page = self.pages.get(finding.rule)
        severity = _SEVERITY.get(finding.severity, types.DiagnosticSeverity.Error)
        if finding.confidence is Confidence.POSSIBLE and severity is types.DiagnosticSeverity.Error:
            severity = types.DiagnosticSeverity.Warning
        tags = [types.DiagnosticTag.Unnecessary] if finding.name in WITHOUT_EFFECT else None
        related = [*self._related(finding), *self._following(mistake)]
        return types.Diagnostic(
            range=where,
            message=_message(finding),
            severity=severity,
            code=finding.rule,
            code_description=None if page is None else types.CodeDescription(page),
            source=SOURCE,
            tags=tags,
            related_information=related or None,
        )

    def _related(self, finding: Finding) -> Iterator[types.DiagnosticRelatedInformation]:
        location = finding.location
        for frame in location.frames:
            if self.document.is_ptx or frame.position != location.shown:
                yield _information(self._source_place(frame.position), _frame_text(frame))
        for related in finding.related:
            yield _information(self._finding_place(related.location), related.message)
        if finding.counterexample is not None:
            for place, text in _steps(finding.counterexample):
                yield _information(self._finding_place(place), text)

    def _following(self, mistake: Mistake) -> Iterator[types.DiagnosticRelatedInformation]:
        for each in mistake.follow:
            yield _information(self._finding_place(each.location), f"so: {each.rule} {each.message}")

    # -- problems and notes

    def _problem(self, problem: Problem) -> Iterator[tuple[str, Shown]]:
        lines = list(self._compiler_lines(problem.detail)) if problem.kind is ProblemKind.COMPILER else []
        if any(shown.diagnostic.severity is types.DiagnosticSeverity.Error for _, shown in lines):
            yield from lines
            return
        place = self._place(problem.position)
        message = problem.message + (f"\n{problem.detail.strip()}" if problem.detail.strip() else "")
        code = problem.kind.value
        yield place.uri, Shown(_plain(place.range, message, types.DiagnosticSeverity.Error, code))

    def _compiler_lines(self, output: str) -> Iterator[tuple[str, Shown]]:
        for found in _COMPILER_LINE.finditer(output):
            line, column = int(found["line"] or found["line2"]), int(found["column"] or 0)
            place = self._place(Position(found["file"].strip(), line, column))
            severity = (
                types.DiagnosticSeverity.Warning
                if found["kind"] == "warning"
                else types.DiagnosticSeverity.Error
            )
            yield place.uri, Shown(_plain(place.range, found["text"], severity, ProblemKind.COMPILER.value))

    def _note(self, note: Note, where: types.Range) -> types.Diagnostic:
        made = _plain(where, note.message, types.DiagnosticSeverity.Information, note.kind.value)
        if note.kind is NoteKind.SUPPRESSION and note.message.startswith("unused"):
            made.tags = [types.DiagnosticTag.Unnecessary]
        return made

    # -- places

    def _finding_place(self, location: Location) -> types.Location:
        """Return where to show a location: in PTX its instruction, in other documents the line of their author."""
        if location.ptx.file == self.document.name:
            return types.Location(self.document.uri, self.document.lines.range(*location.span))
        return self._source_place(location.primary)

    def _source_place(self, position: Position) -> types.Location:
        """Return a place of line information, whose columns compilers count in bytes."""
        text = self.document.lines.fed_line(position.line) if self._is_own(position.file) else None
        text = self.report.line(position) if text is None else text
        if text is None or text.isascii() or position.column < 1:
            return self._place(position)
        before = text.encode("utf-8", errors="surrogatepass")[: position.column - 1]
        column = len(before.decode("utf-8", errors="ignore")) + 1
        return self._place(position._replace(column=column))

    def _place(self, position: Position) -> types.Location:
        name = position.file
        if self._is_own(name):
            return types.Location(self.document.uri, self.document.lines.word(position.line, position.column))
        if not self.document.is_ptx and name == f"{self.document.name}.ptx":
            return types.Location(self.document.uri, self.document.lines.word(0, 0))
        text = self.report.line(position)
        if text is None:
            start = types.Position(_bounded(position.line - 1), _bounded(position.column - 1))
            return types.Location(uri_of(name), types.Range(start, start))
        line = Lines(text, self.document.lines.encoding).word(1, position.column)
        row = _bounded(position.line - 1)
        start, end = (types.Position(row, each.character) for each in (line.start, line.end))
        return types.Location(uri_of(name), types.Range(start, end))

    def _is_own(self, name: str) -> bool:
        return name == self.document.name or os.path.abspath(name) == os.path.abspath(self.document.name)


def _bounded(number: int) -> int:
    return min(max(number, 0), LARGEST)


def uri_of(name: str) -> str:
    """Return the identifier of a file by its shown name."""
    return Path(os.path.abspath(name)).as_uri()


def _information(place: types.Location, message: str) -> types.DiagnosticRelatedInformation:
    return types.DiagnosticRelatedInformation(place, message)


def _plain(
    where: types.Range, message: str, severity: types.DiagnosticSeverity, code: str
) -> types.Diagnostic:
    return types.Diagnostic(range=where, message=message, severity=severity, code=code, source=SOURCE)


def _message(finding: Finding) -> str:
    lines = [f"{finding.name}: {finding.message}"]
    if finding.counterexample is not None:
        run = finding.counterexample
        lines += [f"Launch: {run.launch}", *(f"State: {state}" for state in run.state)]
        lines += [f"Needed: {run.needed}"] if run.needed else []
    return "\n".join([*lines, finding.help] if finding.help else lines)


def _frame_text(frame: Frame) -> str:
    return "from here" if frame.function is None else f"in {short_name(frame.function)}"


def _steps(run: Counterexample[Location]) -> Iterator[tuple[Location, str]]:
    """Yield the steps of a run in the order of the whole run, each with its role; the last ones, if there are many."""
    steps = sorted(
        ((step.order, role.name, step.text, step.place) for role in run.roles for step in role.steps),
        key=lambda step: step[0],
    )
    for order, role, text, place in steps[-_STEPS:]:
        mark = "wrong: " if order == run.bad else ""
        yield place, f"step {order}, {role}: {mark}{text}"
