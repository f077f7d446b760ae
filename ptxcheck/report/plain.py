"""Words and text shared by the renderers for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..finding import Location, Severity
from ..results import KernelResult, Report
from ..source import Position
from ..sources.demangled_names import kernel_name, short_name
from ..verdict import SEVERITY, WEAKNESS, Evidence, Openness, VerdictKind
from .grouping import Mistake, grouped

_MOST_NAMES = 3
_OPEN = frozenset({Openness.NOT_DECIDED, Openness.BEHIND_FAILURE})
_NOT_HELD = frozenset({VerdictKind.VIOLATED, VerdictKind.UNKNOWN})
_LONGEST_REASON = 100

COLORS = {
    Severity.ERROR: "red",
    Severity.HANG: "red",
    Severity.UNDEFINED: "red",
    Severity.WRONG_RESULT: "red",
    Severity.LAUNCH_ERROR: "red",
    Severity.SLOW: "yellow",
    Severity.NOTE: "cyan",
}

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """Return text with control and direction characters spelt out, so that no file can drive a terminal."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def place(position: Position) -> str:
    """Return `file:line:column` without the parts that are not known."""
    parts = [visible(position.file)]
    if position.line > 0:
        parts.append(str(position.line))
        if position.column > 0:
            parts.append(str(position.column))
    return ":".join(parts)


def short_place(position: Position, file: str) -> str:
    """Return `line 12` for a place in a file that is named already, else the place."""
    return f"line {position.line}" if position.file == file and position.line > 0 else place(position)


def call_of(location: Location, file: str) -> Position | None:
    """Return the place in a kernel from which the place shown is reached, where that is another line of a file."""
    calls = [frame.position for frame in location.frames]
    if location.primary not in calls:
        return None
    outer = [each for each in calls[calls.index(location.primary) + 1 :] if each.file == file]
    return outer[-1] if outer and outer[-1].line not in (0, location.primary.line) else None


def spot(location: Location, file: str) -> str:
    """Return a place with the call in the kernel that leads to it: `line 53, wait at 22`.

    A helper's line is the same for all of its calls, so it does not tell them apart.
    """
    call = call_of(location, file)
    if call is None:
        return short_place(location.primary, file)
    return f"{short_place(call, file)}, {helper(location, file)}"


def follows(mistake: Mistake) -> tuple[str, ...]:
    """Return a line for each finding that follows from a mistake: `so: hang[NB020] at line 65: the barrier …`."""
    file = mistake.finding.location.primary.file
    return tuple(
        dict.fromkeys(
            f"so: {each.severity.value}[{each.rule}] at {spot(each.location, file)}: {each.message}"
            for each in mistake.follow
        )
    )


def with_more(mistake: Mistake) -> str:
    """Return the message of a finding in one line, with the rules that tell of what follows from it."""
    rules = ", ".join(sorted({each.rule for each in mistake.follow}))
    return mistake.finding.message + (
        f" ({len(mistake.follow)} more follow from it: {rules})" if rules else ""
    )


def helper(location: Location, file: str) -> str:
    """Return the place shown by the function that it is in: `wait at 22`."""
    shown = location.primary
    name = next((each.function for each in location.frames if each.position == shown), None)
    at = str(shown.line) if shown.file == file else place(shown)
    return f"{visible(short_name(name))} at {at}" if name else f"at {at}"


def plural(count: int, word: str) -> str:
    """Return `1 finding`, `2 findings`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def summary(report: Report) -> str:
    """Return one line that says what was checked and what came out."""
    entries = sum(1 for kernel in report.kernels if kernel.entry)
    parts = [f"checked {plural(entries, 'kernel')} in {plural(len(report.inputs), 'file')}"]
    groups = grouped(report.active)
    told = [finding for group in groups for finding in (group.first, *group.similar)]
    follow = len(report.active) - len(told)
    counts = Counter(finding.severity for finding in told)
    detail = ", ".join(f"{counts[severity]} {severity.value}" for severity in Severity if counts[severity])
    more = f" and {follow} that {'follows' if follow == 1 else 'follow'} from them" if follow else ""
    parts.append(plural(len(told), "finding") + (f" ({detail})" if detail else "") + more)
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} suppressed")
    if report.baselined:
        parts.append(f"{len(report.baselined)} in the baseline")
    if report.problems:
        parts.append(plural(len(report.problems), "problem"))
    parts += _verified(report)
    return "; ".join(parts)


def _verified(report: Report) -> Iterator[str]:
    """Yield how many kernels were decided, in which way, and which ones were not."""
    tables = [kernel.verification for kernel in report.kernels if kernel.verification is not None]
    kinds = Counter(table.kind for table in tables)
    held = [kind for kind in reversed(SEVERITY) if kinds[kind] and kind not in _NOT_HELD]
    if held:
        words = Counter(told_kind(table.kind, table.evidence) for table in tables if table.kind in held)
        ordered = dict.fromkeys(told_kind(kind, each) for kind in held for each in reversed(WEAKNESS))
        told = ", ".join(f"{words[word]} {word}" for word in ordered if words[word])
        yield f"{sum(kinds[kind] for kind in held)} verified ({told})"
    if kinds[VerdictKind.VIOLATED]:
        yield f"{kinds[VerdictKind.VIOLATED]} violated"
    open_ones = [
        each for each in report.kernels if each.verification is not None and each.verification.is_open
    ]
    if open_ones:
        names = ", ".join(visible(kernel_name(kernel.name)) for kernel in open_ones[:_MOST_NAMES])
        more = f" and {len(open_ones) - _MOST_NAMES} more" if len(open_ones) > _MOST_NAMES else ""
        yield f"{plural(len(open_ones), 'kernel')} NOT verified: {names}{more}{_first_reason(open_ones[0])}"
    others = sum(kernel not in open_ones and not _is_judged(kernel) for kernel in report.incomplete)
    if others:
        yield f"{others} not checked in full"


def told_kind(kind: VerdictKind, evidence: Evidence) -> str:
    """Return the word for a verdict; of one that assumes something, with what it is shown by."""
    if kind is not VerdictKind.ASSUMES:
        return str(kind.value)
    how = "for all" if evidence is Evidence.FOR_ALL else str(evidence.value)
    return f"{kind.value} ({how})"


def _is_judged(kernel: KernelResult) -> bool:
    """Tell whether nothing is open of a kernel but what lies behind a failure."""
    table = kernel.verification
    return table is not None and {each.openness for each in table.verdicts} & _OPEN == {
        Openness.BEHIND_FAILURE
    }


def _first_reason(kernel: KernelResult) -> str:
    """Return why a kernel was not decided, cut to what fits a line, and what to pass."""
    table = kernel.verification
    verdicts = () if table is None else (each for each in table.verdicts if each.kind is VerdictKind.UNKNOWN)
    remark = next((remark for each in verdicts for remark in each.reasons), None)
    if remark is None:
        return ""
    text = visible(remark.text)
    shown = text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON].rsplit(' ', 1)[0]} …"
    return f" ({shown}: give {remark.advice})" if remark.advice else f" ({shown})"


def statistics(report: Report) -> str:
    """Return a table of findings per rule, most frequent first."""
    counts = Counter((finding.rule, finding.name) for finding in report.active)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(str(count)) for _, count in ordered), default=1)
    return "".join(f"{count:>{width}}  {rule}  {name}\n" for (rule, name), count in ordered)
