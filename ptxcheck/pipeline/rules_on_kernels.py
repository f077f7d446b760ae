"""Rules on one kernel: hits become located findings; a rule that fails becomes a problem."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..finding import (
    Confidence,
    Finding,
    Location,
    Related,
    Severity,
)
from ..opcodes.op import Op
from ..results import (
    KernelResult,
    KernelVerdicts,
    Note,
    NoteKind,
    Problem,
    ProblemKind,
    Remark,
)
from ..sources.fingerprint import fingerprint, normalised
from ..sources.positions import Locator
from ..verdict import Reason, VerdictKind
from ..view import KernelView
from .consequences import with_causes
from .refutation import weighed
from .verdict_table import placed, undecided, verdict_table, verifier_failure

if TYPE_CHECKING:
    from ..rules import Hit, Rule


_UNASSEMBLED = "the kernel cannot be assembled"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What checking one kernel gave."""

    kernel: KernelResult
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    flaw: Remark | None = None
    """Why it cannot be assembled."""


def evaluate(
    view: KernelView,
    rules: Sequence[Rule],
    locator: Locator,
    severities: Mapping[str, Severity],
    *,
    possible: bool,
) -> Evaluation:
    """Run rules on a kernel. A rule that raises is reported and does not stop the others.

    Of a kernel that cannot be assembled every verdict is unknown; what rules find in it is told. In runs of a kernel
    with lines that are no PTX, what these were to do is missing: what goes wrong in them is not told.
    """
    found: list[tuple[Hit, Finding]] = []
    of_form = frozenset(rule.id for rule in rules if rule.of_form)
    failures: dict[str, list[str]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    flaw = _syntax_flaw(view)
    lacks_lines = flaw is not None
    for rule in rules:
        try:
            hits = sorted(rule.check(view), key=lambda hit: (hit.point, hit.message))
            hits = [weighed(view, rule, hit) for hit in hits]
        except Exception as error:
            failures.setdefault(failure_of(error), []).append(rule.id)
            continue
        severity = severities.get(rule.id, rule.severity)
        for hit in hits:
            if flaw is None and rule.severity is Severity.ERROR and hit.confidence is Confidence.PROVED:
                # A declaration may be behind the last instruction.
                is_at_one = hit.point < len(view.body.instructions)
                flaw = Reason(f"{_UNASSEMBLED}: {hit.message}", hit.point if is_at_one else -1)
            is_artefact = lacks_lines and _is_of_all(hit)
            is_sure = hit.confidence is Confidence.PROVED or rule.confidence is Confidence.POSSIBLE
            if not is_artefact and (possible or is_sure):
                found.append((hit, _finding(view, rule, severity, hit, locator, seen)))
    notes = _opaque(view, locator)
    problems = (*_problems(view, failures), *verifier_failure(view))
    verdicts = verdict_table(view, locator)
    why = None if flaw is None else placed(view, locator, flaw)
    if verdicts is not None and why is not None:
        verdicts = undecided(verdicts, why)
    unknown = verdicts is not None and any(v.kind is VerdictKind.UNKNOWN for v in verdicts.verdicts)
    complete = not (notes or problems or view.body.problems or unknown)
    return Evaluation(
        _result(view, locator, complete, verdicts),
        tuple(with_causes(tuple(_without_echoes(found, of_form)))),
        problems,
        notes,
        why,
    )


def _syntax_flaw(view: KernelView) -> Reason | None:
    """Return that a kernel, or the file around it, is not PTX."""
    problem = next(iter((*view.body.problems, *view.module.problems)), None)
    return None if problem is None else Reason(f"{_UNASSEMBLED}: {problem.message}", -1)


def _without_echoes(
    found: Sequence[tuple[Hit, Finding]], of_form: frozenset[str]
) -> Iterator[tuple[Hit, Finding]]:
    """Leave out what all threads show at an instruction where the code of one thread is already proved wrong.

    Rules that are `of_form` are about something else than what all threads show.
    """
    plain = {
        finding.location.span
        for hit, finding in found
        if not _is_of_all(hit) and finding.confidence is Confidence.PROVED and finding.rule not in of_form
    }
    for hit, finding in found:
        if not _is_of_all(hit) or finding.location.span not in plain:
            yield hit, finding


def _is_of_all(hit: Hit) -> bool:
    return hit.is_of_block or hit.counterexample is not None


def _finding(
    view: KernelView,
    rule: Rule,
    severity: Severity,
    hit: Hit,
    locator: Locator,
    seen: Counter[tuple[str, str]],
) -> Finding:
    if hit.span is None:
        location = locator.location(view.function, hit.point)
    else:
        location = Location(view.module.source.position(hit.span.start), hit.span)
    start, end = location.span
    text = normalised(view.module.source.text[start:end])
    ordinal = seen[rule.id, text]
    seen[rule.id, text] += 1
    related = tuple(
        Related(message, locator.location(view.function, point)) for point, message in hit.related
    )
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=severity,
        confidence=hit.confidence,
        message=hit.message,
        location=location,
        kernel=view.function.name,
        help=rule.advice,
        related=related,
        counterexample=None
        if hit.counterexample is None
        else hit.counterexample.placed(lambda point: locator.location(view.function, point)),
        fingerprint=fingerprint(rule.id, view.function.name, text, ordinal),
    )


def failure_of(error: Exception) -> str:
    """Describe an exception by its type, text and the last place of it that is in this package."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rsplit('/ptxcheck/', 1)[-1]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def _problems(view: KernelView, failures: Mapping[str, Sequence[str]]) -> tuple[Problem, ...]:
    position = view.module.source.position(view.function.span.start)
    return tuple(
        Problem(
            ProblemKind.TOOL,
            f"{'rule' if len(ids) == 1 else 'rules'} {_some(ids)} failed on this kernel; "
            "this is a bug of ptxcheck, please report it",
            position,
            view.function.name,
            failure,
        )
        for failure, ids in failures.items()
    )


def _some(names: Sequence[str], limit: int = 4) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _opaque(view: KernelView, locator: Locator) -> tuple[Note, ...]:
    """Return a note that counts the instructions that the table does not know."""
    points = [
        point
        for point, instruction in enumerate(view.body.instructions)
        if instruction.operation.op is Op.OPAQUE
    ]
    if not points:
        return ()
    counts = Counter(view.body.instructions[point].operation.text for point in points)
    names = [f"{text} ×{count}" if count > 1 else text for text, count in sorted(counts.items())]
    word = "instruction is" if len(points) == 1 else "instructions are"
    message = (
        f"{len(points)} {word} not known to the table ({_some(names)}): this kernel is not checked in full"
    )
    position = locator.location(view.function, points[0]).ptx
    return (Note(NoteKind.OPAQUE, message, position, view.function.name),)


def _result(
    view: KernelView, locator: Locator, complete: bool, verdicts: KernelVerdicts | None
) -> KernelResult:
    return KernelResult(
        name=view.function.name,
        position=locator.head(view.function),
        launch=view.launch,
        instructions=len(view.body.instructions),
        complete=complete,
        entry=view.function.is_entry,
        verification=verdicts,
    )
