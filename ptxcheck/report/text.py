"""Text for people: the source line with a caret, the inline chain, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

import click

from ..finding import (
    Confidence,
    Counterexample,
    Finding,
    Location,
    Related,
)
from ..results import (
    KernelResult,
    KernelVerdicts,
    Note,
    Problem,
    Report,
)
from ..source import Position
from ..sources.demangled_names import kernel_name, short_name
from .grouping import Group, grouped
from .plain import (
    COLORS,
    call_of,
    helper,
    place,
    spot,
    summary,
    told_kind,
    visible,
)
from .verbosity import Verbosity
from .verdicts import (
    VERDICT_COLORS,
    detail_lines,
    headline,
    holding,
    run_lines,
)

WIDTH = 100
_MOST_PLACES = 8
MAX_LINE = 160
"""Source lines are cut to this length around the caret."""


def render_text(report: Report, *, color: bool = False, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """Return findings, problems and notes as text, a summary last."""
    page = _Page(report, color)
    blocks = [page.problem(problem) for problem in report.problems]
    blocks += [page.group(group) for group in grouped(report.active)]
    if verbosity is not Verbosity.QUIET:
        blocks += [page.note(note) for note in report.notes]
        blocks += page.kernels(whole=verbosity is Verbosity.VERBOSE)
    blocks.append(page.paint(summary(report), bold=True))
    return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True, slots=True)
class _Page:
    report: Report
    color: bool

    def paint(self, text: str, fg: str | None = None, *, bold: bool = False) -> str:
        return click.style(text, fg=fg, bold=bold) if self.color else text

    def finding(self, finding: Finding) -> str:
        word = finding.severity.value
        if finding.confidence is Confidence.POSSIBLE:
            word = f"possible {word}"
        head = self.paint(f"{word}[{finding.rule}]", COLORS[finding.severity], bold=True)
        lines = [f"{head} {self.paint(finding.name + ': ' + visible(finding.message), bold=True)}"]
        lines += self._excerpt(finding.location, finding.location.primary, COLORS[finding.severity])
        lines += self._chain(finding.location)
        for related in _told_once(finding.related, finding.location.primary.file):
            lines += self._related(related, finding.location.primary.file)
        if finding.counterexample is not None:
            lines += self._run(finding.counterexample, finding.location.primary.file)
        if finding.kernel is not None:
            lines += self._remark("kernel", visible(kernel_name(finding.kernel)))
        rule = self.report.rule(finding.rule)
        if rule is not None:
            lines += self._remark("why", f"{rule.consequence} [{rule.section}]")
        if finding.help:
            lines += self._remark("help", finding.help)
        return "\n".join(lines)

    def group(self, group: Group) -> str:
        """Return a finding with those like it, and with what follows from it."""
        lines = [self.finding(group.first)]
        file = group.first.location.primary.file
        if group.similar:
            places = [spot(finding.location, file) for finding in group.similar]
            lines += self._remark("also", f"{len(places)} more like it: {_some(places)}")
        for other in group.follow:
            more = f" (and {len(other.similar)} more like it)" if other.similar else ""
            at = spot(other.first.location, file)
            text = f"{other.first.severity.value}[{other.first.rule}] at {at}: {visible(other.first.message)}{more}"
            lines += self._remark("so", text)
        return "\n".join(lines)

    def problem(self, problem: Problem) -> str:
        head = self.paint(f"error[{problem.kind.value}]", "red", bold=True)
        lines = [f"{head} {self.paint(visible(problem.message), bold=True)}"]
        lines += self._source(problem.position, problem.position.column, 1, "red")
        if problem.kernel is not None:
            lines += self._remark("kernel", visible(kernel_name(problem.kernel)))
        lines += [visible(line) for line in problem.detail.rstrip().splitlines()]
        return "\n".join(lines)

    def note(self, note: Note) -> str:
        head = self.paint("note", "cyan", bold=True)
        lines = [f"{head} {visible(note.message)}", f"  {self.paint('-->', 'blue')} {place(note.position)}"]
        if note.kernel is not None:
            lines += self._remark("kernel", visible(kernel_name(note.kernel)))
        return "\n".join(lines)

    def kernels(self, *, whole: bool) -> Iterator[str]:
        """Yield the verdicts on kernels: of each when all is wanted, else those that hold in one line, last."""
        good: list[KernelResult] = []
        for kernel in self.report.kernels:
            if kernel.verification is None:
                continue
            if whole or not kernel.verification.is_plain:
                yield self._verdicts(kernel, kernel.verification, whole=whole)
            else:
                good.append(kernel)
        if good:
            lines = wrap(holding(good), WIDTH, subsequent_indent="  ", break_long_words=False)
            word, _, rest = lines[0].partition(" ")
            yield "\n".join([f"{self.paint(word, 'green', bold=True)} {rest}", *lines[1:]])

    def _verdicts(self, kernel: KernelResult, table: KernelVerdicts, *, whole: bool) -> str:
        head = self.paint(told_kind(table.kind, table.evidence), VERDICT_COLORS[table.kind], bold=True)
        lines = [f"{head} {headline(kernel)}"]
        for word, text in detail_lines(table, kernel.position.file, whole=whole):
            lines += self._remark(word, text)
        return "\n".join(lines)

    def _run(self, run: Counterexample[Location], file: str) -> Iterator[str]:
        for word, text in run_lines(run, file):
            if word:
                yield from self._remark(word, text)
            else:
                yield f"       {text}"

    def _related(self, related: Related, file: str) -> Iterator[str]:
        """Yield what happens elsewhere; in a helper, at the call of it in the kernel."""
        call = call_of(related.location, file)
        inner = "" if call is None else f" (in {helper(related.location, file)})"
        yield f"  {self.paint('note', 'cyan', bold=True)}: {visible(related.message)}{inner}"
        if call is None:
            yield from self._excerpt(related.location, related.location.primary, "cyan")
        else:
            yield from self._source(call, call.column, 1, "cyan")

    def _excerpt(self, location: Location, position: Position, fg: str) -> Iterator[str]:
        """Yield the line of a location; the PTX line when the source itself is not at hand."""
        if position is location.ptx or self.report.line(position) is not None:
            width = location.span.end - location.span.start if position is location.ptx else 1
            yield from self._source(position, position.column, width, fg)
            return
        yield f"  {self.paint('-->', 'blue')} {place(position)}"
        yield from self._source(
            location.ptx, location.ptx.column, location.span.end - location.span.start, fg
        )

    def _source(self, position: Position, column: int, width: int, fg: str) -> Iterator[str]:
        yield f"  {self.paint('-->', 'blue')} {place(position)}"
        text = self.report.line(position)
        if text is None:
            return
        text, column = _cut(text, column)
        number = str(position.line)
        bar = self.paint("|", "blue")
        yield f"{self.paint(number, 'blue')} {bar} {visible(text)}"
        if column > 0:
            margin = "".join("\t" if char == "\t" else " " for char in text[: column - 1])
            marks = "^" * max(1, min(width, len(text) - column + 1))
            yield f"{' ' * len(number)} {bar} {margin}{self.paint(marks, fg, bold=True)}"

    def _chain(self, location: Location) -> Iterator[str]:
        """Yield the frames around the place shown, and the ones inside it, which are library code."""
        frames = location.frames
        if len(frames) < 2:
            return
        for frame in frames:
            mark = "here" if frame.position == location.shown else "in"
            name = "" if frame.function is None else f" {visible(short_name(frame.function))}"
            line = self.report.line(frame.position) if frame is frames[-1] and mark == "in" else None
            text = "" if line is None else f": {visible(_cut(line.strip(), 0)[0])}"
            yield f"   {self.paint('=', 'blue')} {mark:>4}{name} at {place(frame.position)}{text}"

    def _remark(self, word: str, text: str) -> Iterator[str]:
        lead = f"   {self.paint('=', 'blue')} {self.paint(word, bold=True)}: "
        indent = " " * (len(word) + 7)
        for number, line in enumerate(wrap(text, WIDTH - len(indent), break_long_words=False) or [""]):
            yield (lead if number == 0 else indent) + line


def _told_once(related: Sequence[Related], file: str) -> Iterable[Related]:
    """Return the first of those that say the same of the same line."""
    found: dict[object, Related] = {}
    for each in related:
        at = call_of(each.location, file) or each.location.primary
        found.setdefault((each.message, at.file, at.line), each)
    return found.values()


def _some(places: Sequence[str]) -> str:
    """Return places, the first of them; lines of one file together."""
    shown = list(dict.fromkeys(places))
    more = f" and {len(shown) - _MOST_PLACES} other places" if len(shown) > _MOST_PLACES else ""
    return ", ".join(shown[:_MOST_PLACES]) + more


def _cut(text: str, column: int) -> tuple[str, int]:
    if len(text) <= MAX_LINE:
        return text, column
    start = max(0, column - MAX_LINE // 2)
    return text[start : start + MAX_LINE], column - start
