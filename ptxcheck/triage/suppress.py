"""Suppression of findings by comments in the PTX or in the source it was compiled from.

A suppression needs a reason. One that suppresses nothing is reported, so that it does not outlive its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..finding import Finding
from ..launches.hints import LaunchError, LaunchHint
from ..launches.launch_comments import PARSERS
from ..opcodes.target import Target
from ..results import Note, NoteKind, RuleInfo
from ..sources.comments import Comment, Verb
from ..sources.former_names import FORMER_NAMES


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Findings with their suppressions filled in, and notes on suppressions that do nothing."""

    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]


def suppress(
    findings: Sequence[Finding],
    files: Mapping[str, Sequence[Comment]],
    rules: Sequence[RuleInfo],
    owned: Sequence[str],
) -> Suppressed:
    """Mark the findings that comments suppress.

    `files` holds the comments of each file by its shown name. Only for `owned` files, those the user
    asked to check, is an unused comment reported, and only when a rule that it names ran.
    """
    whole = {name: _of(comments, Verb.IGNORE_FILE) for name, comments in files.items()}
    by_line: dict[tuple[str, int], list[Comment]] = {}
    for name, comments in files.items():
        for comment in _of(comments, Verb.IGNORE):
            by_line.setdefault((name, comment.target_line), []).append(comment)
    used: set[Comment] = set()
    marked: list[Finding] = []
    for finding in findings:
        found = next(_matching(finding, whole, by_line), None)
        if found is None:
            marked.append(finding)
        else:
            used.add(found)
            marked.append(replace(finding, suppressed=found.text))
    notes = [
        note
        for name in owned
        for comment in files.get(name, ())
        if (note := _note(comment, comment in used, rules)) is not None
    ]
    return Suppressed(tuple(marked), tuple(notes))


def _of(comments: Sequence[Comment], verb: Verb) -> list[Comment]:
    return [comment for comment in comments if comment.verb is verb and comment.text and comment.rules]


def _matching(
    finding: Finding,
    whole: Mapping[str, Sequence[Comment]],
    by_line: Mapping[tuple[str, int], Sequence[Comment]],
) -> Iterator[Comment]:
    """Yield the comments about the finding's PTX line or any frame of its inline stack."""
    places = [finding.location.ptx, *(frame.position for frame in finding.location.frames)]
    for place in places:
        for comment in (*by_line.get((place.file, place.line), ()), *whole.get(place.file, ())):
            if any(names_rule(name, finding.rule, finding.name) for name in comment.rules):
                yield comment


def names_rule(selector: str, rule_id: str, name: str) -> bool:
    """Tell whether a selector is a rule's name, its id, or a prefix of its id; `ALL` names every rule."""
    return selector == "ALL" or selector == name or rule_id.startswith(selector)


def _note(comment: Comment, used: bool, rules: Sequence[RuleInfo]) -> Note | None:
    message = None
    if comment.verb is not None and comment.verb in PARSERS:
        message = _launch_complaint(PARSERS[comment.verb], comment)
    elif comment.verb is Verb.ARCH and not _is_target(comment.text):
        message = f"{comment.text!r} is not a target architecture such as sm_90a"
    elif comment.verb is None:
        message = (
            "comment not understood: write `ptxcheck: ignore[RULE] reason` or `ptxcheck: launch block=N`"
        )
    elif comment.verb in (Verb.IGNORE, Verb.IGNORE_FILE):
        message = _complaint(comment, used, rules)
    return None if message is None else Note(NoteKind.SUPPRESSION, message, comment.position)


def _is_target(text: str) -> bool:
    try:
        Target.parse(text)
    except ValueError:
        return False
    return True


def _launch_complaint(parse: Callable[[str, str, str], LaunchHint], comment: Comment) -> str | None:
    try:
        parse(comment.text, "launch comment", "*")
    except LaunchError as error:
        return str(error)
    return None


def _complaint(comment: Comment, used: bool, rules: Sequence[RuleInfo]) -> str | None:
    shown = ", ".join(comment.rules)
    if not comment.rules:
        return "suppression names no rule, so it has no effect"
    if not comment.text:
        return f"suppression of {shown} has no reason, so it has no effect: write why after the bracket"
    renamed = next((name for name in comment.rules if name in FORMER_NAMES), None)
    if renamed is not None:
        return f"the rule {renamed} was renamed to {FORMER_NAMES[renamed]}"
    ran = any(names_rule(name, rule.id, rule.name) for name in comment.rules for rule in rules)
    return f"unused suppression of {shown}: nothing to suppress here" if ran and not used else None
