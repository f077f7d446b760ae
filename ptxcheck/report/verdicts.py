"""Verdicts on whole kernels, and runs that go wrong, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..finding import Counterexample, Location
from ..launch import show_dim
from ..results import (
    KernelResult,
    KernelVerdicts,
    PropertyVerdict,
    Remark,
)
from ..sources.demangled_names import short_name
from ..verdict import Openness, VerdictKind
from .plain import place, plural, visible

_LONGEST = 240
_OPEN = {
    Openness.CONDITIONAL: "conditional",
    Openness.NOT_DECIDED: "not decided",
    Openness.BEHIND_FAILURE: "not judged",
}
VERDICT_COLORS = {
    VerdictKind.VIOLATED: "red",
    VerdictKind.UNKNOWN: "yellow",
    VerdictKind.ASSUMES: "cyan",
    VerdictKind.PROVED_BOUNDED: "green",
    VerdictKind.PROVED: "green",
}


def launch_line(table: KernelVerdicts) -> str:
    """Return the launch that the verdicts are for, and where it is a guess."""
    if table.block is None:
        return "launch not known"
    parts = [f"block {show_dim(table.block)}"]
    has_one_origin = table.cluster is not None and table.cluster_origin == table.block_origin
    if table.block_origin and not has_one_origin:
        parts[0] += f" (from {table.block_origin})"
    if table.cluster is not None:
        origin = f" (from {table.cluster_origin})" if table.cluster_origin else ""
        parts.append(f"cluster {show_dim(table.cluster)}{' (inferred)' if table.inferred else origin}")
    return ", ".join([*parts, *table.given])


def headline(kernel: KernelResult, table: KernelVerdicts) -> str:
    """Return the verdict on a kernel in one line, without its kind."""
    return f"{visible(short_name(kernel.name))} at {place(kernel.position)}; {launch_line(table)}"


def detail_lines(table: KernelVerdicts) -> Iterator[tuple[str, str]]:
    """Yield what there is to say besides the headline, each with a word in front; nothing when all is proved."""
    groups: dict[tuple[str, tuple[Remark, ...]], list[PropertyVerdict]] = {}
    for verdict in table.verdicts:
        groups.setdefault((_word(verdict), verdict.reasons), []).append(verdict)
    if set(groups) == {(VerdictKind.PROVED.value, ())} and not table.facts:
        yield from (("launch", _short(other)) for other in table.other_launches)
        return
    for (word, reasons), verdicts in groups.items():
        names = ", ".join(verdict.property.value for verdict in verdicts)
        yield word, names if not reasons else f"{names}: {'; '.join(_remarks(reasons))}"
    for fact in table.facts:
        yield "given", _short(fact)
    for equation in table.equations:
        yield "if", _short(equation)
    for assumption in _remarks(table.assumptions):
        yield "taking", assumption
    for other in table.other_launches:
        yield "launch", _short(other)
    if table.runs:
        yield "runs", runs_line(table)


def _word(verdict: PropertyVerdict) -> str:
    """Return the word in front of a verdict: of an unknown one, why it is."""
    if verdict.kind is not VerdictKind.UNKNOWN or verdict.openness is None:
        return verdict.kind.value
    return _OPEN[verdict.openness]


def runs_line(table: KernelVerdicts) -> str:
    """Return how many runs were made, and how often loops of open length repeat in them."""
    times = ", ".join(str(count) for count in sorted(table.trips))
    return f"{plural(table.runs, 'run')}; loops of open length repeat {times} times"


def _short(text: str) -> str:
    """Return a text of bounded length; JSON has it whole."""
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _remarks(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield each text once, with its places and what to pass."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for remark in remarks:
        found = places.setdefault((_short(remark.text), remark.advice), {})
        if remark.location is not None:
            found[place(remark.location.primary)] = None
    for (text, advice), shown in places.items():
        give = f" [give {advice}]" if advice else ""
        where = f" ({', '.join(shown)})" if shown else ""
        yield f"{text}{where}{give}"


def one_line(table: KernelVerdicts) -> str:
    """Return all that there is to say of a kernel in one line."""
    return "; ".join(f"{word} {text}" for word, text in detail_lines(table)) or "all properties"


def run_lines(run: Counterexample[Location], file: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a run that goes wrong: a word, or "" for a step, and the text.

    Steps in `file`, where the finding is, are shown by their line alone.
    """
    yield "run", visible(run.launch)
    if run.inputs:
        yield "where", visible(", ".join(run.inputs))
    for role in run.roles:
        earlier = f", after {plural(role.earlier, 'earlier step')}" if role.earlier else ""
        yield "role", f"{visible(role.name)}{earlier}"
        for step in role.steps:
            mark = ">" if step.order == run.bad else " "
            at = step.place.primary
            where = f"line {at.line}" if at.file == file and at.line > 0 else place(at)
            yield "", f"{mark} {step.order:>3} {visible(step.text)}  [{where}]"
    for state in run.state:
        yield "state", visible(state)
    if run.needed:
        yield "needed", visible(run.needed)
