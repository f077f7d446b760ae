"""Rules on one file of host code: hits become located findings; a rule that fails becomes a problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..finding import (
    Confidence,
    Finding,
    Frame,
    Location,
    Related,
    Severity,
)
from ..opcodes.target import Target
from ..results import (
    Note,
    NoteKind,
    Problem,
    ProblemKind,
)
from ..source import Position, Source, Span
from ..sources.comments import Verb, comments
from ..sources.fingerprint import fingerprint, normalised
from .rules_on_kernels import failure_of

if TYPE_CHECKING:
    from ..hostcode.find import Reading
    from ..rules import HostHit, Rule


@dataclass(frozen=True, slots=True)
class HostEvaluation:
    """What checking one file of host code gave."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    reads: tuple[str, ...] = ()
    """Absolute paths of the files that the code includes and that were read."""


def evaluate_host(
    source: Source,
    rules: Sequence[Rule],
    severities: Mapping[str, Severity],
    *,
    possible: bool,
    arch: str | None = None,
) -> HostEvaluation:
    """Run the rules about host code on a file. `arch` is the architecture that it is for, where that is known."""
    chosen = [rule for rule in rules if rule.host is not None]
    if not chosen:
        return HostEvaluation()
    from ..hostcode.find import has_encode
    from ..hostcode.view import HostView

    if not has_encode(source.text):
        return HostEvaluation()
    view = HostView(source, _target(source, arch), possible)
    findings: list[Finding] = []
    seen: Counter[tuple[str, str]] = Counter()
    for rule in chosen:
        assert rule.host is not None
        try:
            hits = sorted(rule.host(view), key=lambda hit: (hit.span, hit.message, hit.frames))
        except Exception as error:
            return HostEvaluation(tuple(findings), (_failed(source, error),))
        severity = severities.get(rule.id, rule.severity)
        for hit in hits:
            if possible or hit.confidence is Confidence.PROVED:
                findings.append(_finding(source, rule, severity, hit, seen))
    notes = tuple(_notes(source, view.reading))
    return HostEvaluation(tuple(findings), notes=notes, reads=view.reading.opened)


def _notes(source: Source, reading: Reading) -> Iterator[Note]:
    """Yield what was not read to its end."""
    if not reading.is_parsed:
        message = "this file cannot be parsed, its encode calls were not checked"
        yield Note(NoteKind.HOST_CODE, message, Position(source.name, 0))
    for function in reading.given_up:
        message = f"{function.name} takes too long to follow, encode calls in it may be unchecked"
        yield Note(NoteKind.HOST_CODE, message, source.position(function.span.start), function.name)


def _target(source: Source, arch: str | None) -> Target | None:
    """Return the architecture from the options, or from a comment in the file."""
    said = [comment.text for comment in comments(source) if comment.verb is Verb.ARCH]
    for text in (arch, *said):
        try:
            if text is not None:
                return Target.parse(text)
        except ValueError:
            continue
    return None


def _failed(source: Source, error: Exception) -> Problem:
    message = "the host code of this file was not checked; this is a bug of ptxcheck, please report it"
    return Problem(ProblemKind.TOOL, message, Position(source.name, 0), detail=failure_of(error))


def _finding(
    source: Source, rule: Rule, severity: Severity, hit: HostHit, seen: Counter[tuple[str, str]]
) -> Finding:
    text = normalised(source.text[hit.span.start : hit.span.end])
    ordinal = seen[rule.id, text]
    seen[rule.id, text] += 1
    function = hit.frames[0][0] if hit.frames else ""
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=severity,
        confidence=hit.confidence,
        message=hit.message,
        location=_location(source, hit),
        help=rule.advice,
        related=tuple(Related(text, _place(source, span)) for span, text in hit.related),
        fingerprint=fingerprint(rule.id, function, text, ordinal),
    )


def _place(source: Source, span: Span) -> Location:
    return Location(source.position(span.start), span)


def _location(source: Source, hit: HostHit) -> Location:
    """Return the argument; where its value comes from callers, also the way to it, shown at the outermost call."""
    place = _place(source, hit.span)
    if len(hit.frames) < 2:
        return place
    frames = tuple(Frame(source.position(span.start), name) for name, span in hit.frames)
    return Location(place.ptx, place.span, frames, frames[-1].position)
