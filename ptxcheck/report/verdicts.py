"""Verdicts on whole kernels, and runs that go wrong, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..finding import Counterexample, Location
from ..launch import show_dim
from ..results import (
    CrossCheck,
    KernelResult,
    KernelVerdicts,
    PropertyVerdict,
    Remark,
)
from ..sources.demangled_names import kernel_name
from ..verdict import AssumptionSource, Openness, VerdictKind
from .plain import place, plural, spot, told_kind, visible

_LONGEST = 240
_LENS = 80
"""Characters of a line above a kernel in an editor."""
_MOST_KERNELS = 4
_MOST_CONDITIONS = 4
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


def launch_line(table: KernelVerdicts, file: str = "") -> str:
    """Return the launch that the verdicts are for, and where it is a guess; places in `file` are told by their line."""
    if table.block is None:
        return "launch not known"
    parts = [f"block {show_dim(table.block)}"]
    has_one_origin = table.cluster is not None and table.cluster_origin == table.block_origin
    if table.block_origin and not has_one_origin:
        parts[0] += f" (from {table.block_origin})"
    if table.cluster is not None:
        origin = f" (from {table.cluster_origin})" if table.cluster_origin else ""
        parts.append(f"cluster {show_dim(table.cluster)}{' (inferred)' if table.inferred else origin}")
    said = ", ".join([*parts, *table.given])
    return said.replace(f"{file}:", "line ") if file else said


def headline(kernel: KernelResult) -> str:
    """Return the verdict on a kernel in one line, without its kind."""
    return f"{visible(kernel_name(kernel.name))} at {place(kernel.position)}; {_launched(kernel)}"


def holding(kernels: Sequence[KernelResult]) -> str:
    """Return kernels that hold in one line: those that are proved first, each kind with the first names."""
    parts = []
    for kind in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED):
        found = [each for each in kernels if each.verification is not None and each.verification.kind is kind]
        names = [f"{visible(kernel_name(each.name))} ({_launched(each)})" for each in found[:_MOST_KERNELS]]
        more = f" and {len(found) - _MOST_KERNELS} more" if len(found) > _MOST_KERNELS else ""
        if names:
            parts.append(f"{kind.value} {', '.join(names)}{more}")
    return f"{'; '.join(parts)} [-v shows what it rests on]"


def _launched(kernel: KernelResult) -> str:
    assert kernel.verification is not None
    return launch_line(kernel.verification, kernel.position.file)


def detail_lines(table: KernelVerdicts, file: str = "", *, whole: bool = True) -> Iterator[tuple[str, str]]:
    """Yield what there is to say besides the headline, each with a word in front; nothing when all is proved.

    Places in `file` are told by their line. Unless the whole is wanted, what holds and asks nothing is left out.
    """
    groups: dict[tuple[str, tuple[Remark, ...]], list[PropertyVerdict]] = {}
    for verdict in table.verdicts:
        groups.setdefault((_word(verdict), verdict.reasons), []).append(verdict)
    if set(groups) == {(VerdictKind.PROVED.value, ())} and not table.facts and table.cross_check is None:
        yield from (("launch", _short(other)) for other in table.other_launches)
        return
    violated = [each.property.value for each in table.verdicts if each.kind is VerdictKind.VIOLATED]
    if violated and not whole:
        yield VerdictKind.VIOLATED.value, ", ".join(violated)
    for (word, reasons), verdicts in groups.items():
        if not whole and not any(_asks(verdict, table.assumptions) for verdict in verdicts):
            continue
        names = ", ".join(verdict.property.value for verdict in verdicts)
        yield word, names if not reasons else f"{names}: {'; '.join(_remarks(reasons, file))}"
    if whole:
        for fact in table.facts:
            yield "given", _short(fact)
    asked = [("if", _short(equation)) for equation in table.equations]
    for source in (*AssumptionSource, None):
        found = [each for each in table.assumptions if each.source is source]
        word = "taking" if source is None else f"taking ({source.value})"
        asked += [(word, assumption) for assumption in _remarks(found, file)]
    yield from asked if whole else asked[:_MOST_CONDITIONS]
    if not whole and len(asked) > _MOST_CONDITIONS:
        yield "more", f"{plural(len(asked) - _MOST_CONDITIONS, 'condition')} [-v shows all]"
    for other in table.other_launches:
        yield "launch", _short(other)
    yield from _how(table, whole=whole)


def _asks(verdict: PropertyVerdict, listed: Sequence[Remark]) -> bool:
    """Tell whether the reasons of a verdict are to be told: findings are, and so is what is `listed` besides."""
    if verdict.kind is VerdictKind.ASSUMES:
        taken = (remark for remark in verdict.reasons if remark.source is not None and remark not in listed)
        return any(taken) or any(remark.advice for remark in verdict.reasons)
    return verdict.kind is VerdictKind.UNKNOWN


def _word(verdict: PropertyVerdict) -> str:
    """Return the word in front of a verdict: of an unknown one, why it is; of one with assumptions, how it is shown."""
    if verdict.kind is not VerdictKind.UNKNOWN or verdict.openness is None:
        return told_kind(verdict.kind, verdict.evidence)
    return _OPEN[verdict.openness]


def runs_line(table: KernelVerdicts) -> str:
    """Return how many runs were made, and how often loops of open length repeat in them."""
    times = ", ".join(str(count) for count in sorted(table.trips))
    return f"{plural(table.runs, 'run')}; loops of open length repeat {times} times"


def _how(table: KernelVerdicts, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield how the verdicts came about."""
    if table.runs and whole:
        yield "runs", runs_line(table)
    checked = table.cross_check
    if checked is not None and (whole or checked.undecided or checked.refuted):
        yield "cross-check", cross_check_line(checked)


def cross_check_line(outcome: CrossCheck) -> str:
    """Return what a second solver said of what was found to be impossible."""
    asked = outcome.confirmed + outcome.undecided + outcome.refuted
    by = f"{outcome.solver} {outcome.version}"
    if not asked:
        return f"{by} was asked nothing: no verdict rests on what numbers may be"
    left = f"; {outcome.undecided} it could not decide" if outcome.undecided else ""
    wrong = f"; {outcome.refuted} it contradicts" if outcome.refuted else ""
    return f"{by} confirms {outcome.confirmed} of {plural(asked, 'answer')} that something is impossible{left}{wrong}"


def _short(text: str) -> str:
    """Return a text of bounded length; JSON has it whole."""
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _remarks(remarks: Iterable[Remark], file: str = "") -> Iterator[str]:
    """Yield each text once, with its places and what to pass."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for remark in remarks:
        found = places.setdefault((_short(remark.text), remark.advice), {})
        if remark.location is not None:
            found[spot(remark.location, file)] = None
    for (text, advice), shown in places.items():
        give = f" [give {advice}]" if advice else ""
        between = "; " if any(", " in each for each in shown) else ", "
        where = f" ({between.join(shown)})" if shown else ""
        yield f"{text}{where}{give}"


def one_line(table: KernelVerdicts, file: str = "", *, whole: bool = True) -> str:
    """Return what there is to say of a kernel in one line."""
    said = detail_lines(table, file, whole=whole)
    return "; ".join(f"{word} {text}" for word, text in said) or "all properties"


def lens_title(table: KernelVerdicts) -> str:
    """Return the verdict on a kernel in a few words, for the line above it in an editor."""
    worst = [each for each in table.verdicts if each.kind is table.kind]
    match table.kind:
        case VerdictKind.VIOLATED:
            what = ", ".join(each.property.value for each in worst)
        case VerdictKind.UNKNOWN:
            advice = next((reason.advice for each in worst for reason in each.reasons if reason.advice), "")
            what = f"give {advice}" if advice else plural(len(worst), "property").replace("ys", "ies")
        case VerdictKind.ASSUMES:
            what = plural(len(table.equations) + len(table.assumptions), "condition")
        case _:
            what = "all properties"
    block = "" if table.block is None else f" (block {show_dim(table.block)})"
    return _cut(f"{table.kind.value}: {what}", _LENS - len(block)) + block


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def run_lines(run: Counterexample[Location], file: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a run that goes wrong: a word, or "" for a step, and the text.

    Steps in `file`, where the finding is, are shown by their line alone, with the call in the kernel in front.
    """
    yield "run", visible(run.launch)
    if run.inputs:
        yield "where", visible(", ".join(run.inputs))
    for role in run.roles:
        earlier = f", after {plural(role.earlier, 'earlier step')}" if role.earlier else ""
        yield "role", f"{visible(role.name)}{earlier}"
        for step in role.steps:
            mark = ">" if step.order == run.bad else " "
            yield "", f"{mark} {step.order:>3} {visible(step.text)}  [{spot(step.place, file)}]"
    for state in run.state:
        yield "state", visible(state)
    if run.needed:
        yield "needed", visible(run.needed)
