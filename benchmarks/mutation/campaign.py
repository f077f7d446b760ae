"""Verify mutants in several processes, and count what was said of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from random import Random
from types import FrameType

from ptxcheck.launches.hints import LaunchHint, launch_of
from ptxcheck.protocols.proof.evidence import Verification, show_equations
from ptxcheck.protocols.symex.values.trace import Shape
from ptxcheck.source import Source
from ptxcheck.verdict import AssumptionKind, Property, VerdictKind

from .harmless import Harmless, why_harmless
from .judge import HOLDS, judge, rules_that_fire
from .operators import OPERATORS, Mutant, mutants
from .redundant import Redundancy
from .structure_operators import STRUCTURE_OPERATORS
from .subject import subjects

_NICENESS = 10
_GRACE_SECONDS = 10.0


class Outcome(Enum):
    """What the verifier says of a kernel as a whole: the worst of its verdicts."""

    VIOLATED = "violated"
    RULES = "rules"
    """A rule about one thread says something of it that it does not say of the kernel as it is."""
    PEDANTIC = "pedantic"
    """It does more that PTX does not allow, and that released libraries do: `--pedantic` finds it."""
    UNKNOWN = "unknown"
    ASSUMES = "assumes"
    PROVED_BOUNDED = "proved-bounded"
    PROVED = "proved"
    PARTLY = "partly"
    """What was known of the kernel is still said of the mutant; something else is unknown, as it was before."""
    CONTRACT = "contract"
    """Holds under other facts about the host than the kernel as it is: the check against the host tells them apart."""
    FAILED = "failed"
    """The verifier raised an exception: a bug of ptxcheck."""

    @property
    def holds(self) -> bool:
        return self in (Outcome.ASSUMES, Outcome.PROVED_BOUNDED, Outcome.PROVED)


_BY_KIND = {kind: Outcome(kind.value) for kind in VerdictKind}
_WORST_FIRST = (
    Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.ASSUMES, Outcome.PROVED_BOUNDED, Outcome.PROVED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """One mutant and what was said of it. `operator` is "" for a kernel as it is."""

    file: str
    kernel: str
    operator: str
    line: int
    statement: str
    outcome: Outcome
    detail: str
    harmless: str | None

    @property
    def survives(self) -> bool:
        """Tell whether the mutant holds and nobody has said why it may."""
        return self.outcome.holds and self.harmless is None

    @property
    def false_alarm(self) -> bool:
        """Tell whether a harmless mutant is called violated."""
        return self.outcome in (Outcome.VIOLATED, Outcome.RULES) and self.harmless is not None


@dataclass(frozen=True, slots=True)
class _Task:
    file: str
    kernel: str
    text: str
    seconds: float
    known: frozenset[Property] = frozenset()
    """Properties that hold for the kernel as it is."""
    contract: frozenset[str] = frozenset()
    """What the host must meet for the kernel as it is."""
    tolerated: Mapping[str, int] = field(default_factory=dict)
    """What the kernel as it is does beyond the words of PTX, and at how many places."""
    said: Mapping[bool, Mapping[str, int]] | None = None
    """How often each rule fires on the kernel as it is, without `--pedantic` and with it; None for that kernel."""
    launch: tuple[LaunchHint, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answer:
    outcome: Outcome
    detail: str
    holds: frozenset[Property] = frozenset()
    contract: frozenset[str] = frozenset()
    tolerated: Mapping[str, int] = field(default_factory=dict)
    found: frozenset[str] = frozenset()
    """Rules that fire on it more often than on the kernel as it is, and properties that are violated."""
    shape: Shape | None = None
    """The launch that was verified."""


def run(
    files: Sequence[tuple[str, Path]],
    harmless: Sequence[Harmless],
    *,
    operators: frozenset[str] | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 1,
    seconds: float = 20.0,
    jobs: int = 2,
    kernels: int | None = None,
    launch: tuple[LaunchHint, ...] = (),
    structure: bool = False,
) -> Iterator[Record]:
    """Yield a record of each kernel, and of each mutant of those that hold, file by file.

    `limit` bounds the mutants of an operator in one kernel (they are spread over its statements), `sample` all mutants
    of a kernel (chosen at random by `seed`), `kernels` the kernels of a file; `launch` is for kernels that do not say
    how they are launched. `structure`: by `STRUCTURE_OPERATORS` in place of `OPERATORS`.
    """
    with multiprocessing.get_context("fork").Pool(jobs, _be_nice, maxtasksperchild=50) as pool:
        for name, path in files:
            chosen = list(subjects(Source(name, path.read_text(encoding="utf-8"))))[:kernels]
            bases = [_Task(name, s.function.name, s.text, seconds, launch=launch) for s in chosen]
            for subject, base in zip(chosen, pool.imap(_judged, bases), strict=True):
                kernel = subject.function.name
                yield Record(name, kernel, "", 0, "", base.outcome, base.detail, None)
                if base.outcome is Outcome.VIOLATED or not base.holds:
                    continue
                known = STRUCTURE_OPERATORS if structure else OPERATORS
                found = _sampled(mutants(subject, known), operators, limit)
                if sample is not None and sample < len(found):
                    chosen_points = Random(f"{seed} {name} {kernel}").sample(range(len(found)), sample)
                    found = [found[index] for index in sorted(chosen_points)]
                as_judged = (*launch, *_same_launch(base.shape))
                said = {each: rules_that_fire(subject.text, pedantic=each) for each in (False, True)}
                tasks = [
                    _Task(
                        name,
                        kernel,
                        mutant.text,
                        seconds,
                        base.holds,
                        base.contract,
                        base.tolerated,
                        said,
                        as_judged,
                    )
                    for mutant in found
                ]
                redundancy = Redundancy(subject, launch_of(subject.function, as_judged)[0])
                for mutant, answer in zip(found, pool.imap(_judged, tasks), strict=True):
                    reason = why_harmless(harmless, name, mutant, answer.found) or redundancy.why(mutant)
                    yield Record(
                        name, kernel, mutant.operator, mutant.line, mutant.statement, answer.outcome,
                        answer.detail, reason,
                    )  # fmt: skip


def _same_launch(shape: Shape | None) -> tuple[LaunchHint, ...]:
    """Return the launch that a kernel was found to be for: its mutants are for the same."""
    return () if shape is None else (LaunchHint(block=shape.block, cluster=shape.cluster),)


def _sampled(found: Iterable[Mutant], operators: frozenset[str] | None, limit: int | None) -> list[Mutant]:
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in found:
        if operators is None or mutant.operator in operators:
            by_operator[mutant.operator].append(mutant)
    chosen: list[Mutant] = []
    for group in by_operator.values():
        count = len(group) if limit is None else min(limit, len(group))
        chosen += [group[position * len(group) // count] for position in range(count)]
    return chosen


def _be_nice() -> None:
    os.nice(_NICENESS)
    signal.signal(signal.SIGPROF, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _judged(task: _Task) -> _Answer:
    signal.setitimer(signal.ITIMER_PROF, task.seconds + _GRACE_SECONDS)
    try:
        (result,) = judge(
            Source(task.file, task.text), kernel=task.kernel, seconds=task.seconds, launch=task.launch
        )
    except TimeoutError:
        return _Answer(
            Outcome.UNKNOWN, f"stopped after {task.seconds + _GRACE_SECONDS:.0f} s of processor time"
        )
    except Exception as error:
        return _Answer(Outcome.FAILED, f"{type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    verdicts = (*result.verdicts, *result.of_units)
    kinds = {_BY_KIND[verdict.kind]: verdict for verdict in reversed(verdicts)}
    worst = next((each for each in _WORST_FIRST if each in kinds), Outcome.UNKNOWN)
    reasons = kinds[worst].reasons if worst in kinds else ()
    detail = ""
    if reasons:
        lines = ", ".join(map(str, sorted(result.lines(reasons[0].point))))
        detail = f"{reasons[0].text} (line {lines or '-'})"
    holds = frozenset(verdict.property for verdict in verdicts if verdict.kind in HOLDS)
    if worst is Outcome.UNKNOWN and task.known and task.known <= holds:
        worst = Outcome.PARTLY
    contract = frozenset((*show_equations(result.verification), *_sizes(result.verification)))
    tolerated = _tolerated(result.verification)
    found = frozenset(each.property.value for each in verdicts if each.kind is VerdictKind.VIOLATED)
    if task.said is not None and worst is not Outcome.VIOLATED:
        rules = frozenset(rules_that_fire(task.text) - Counter(task.said[False]))
        if rules:
            found |= rules
            worst, detail = Outcome.RULES, ", ".join(sorted(rules))
        elif worst.holds and (more := tolerated - Counter(task.tolerated) or _asked_for(task)):
            worst, detail = Outcome.PEDANTIC, "; ".join(sorted(more))
        elif worst is Outcome.ASSUMES and contract != task.contract:
            worst = Outcome.CONTRACT
    return _Answer(worst, detail, holds, contract, tolerated, found, result.verification.shape)


def _tolerated(verification: Verification) -> Counter[str]:
    """Return what `--pedantic` finds in the runs of a kernel, by how many instructions, and what its verdicts name.

    That one lane of several is elected is named, too: the ISA leaves open which.
    """
    places = {(p.flaw.value, p.point) for run in verification.strict for p in run.problems}
    named = (text for kinds in verification.tolerated.values() for text in kinds)
    chosen = (
        each.text for (kind, *_), each in verification.assumptions.items() if kind is AssumptionKind.ELECT
    )
    return Counter([*(flaw for flaw, _ in places), *named, *chosen])


def _sizes(verification: Verification) -> Iterator[str]:
    """Yield what sizes have to be, because the kernel goes wrong for others, without how it goes wrong."""
    yield from (each.text.partition(":")[0] for each in verification.required.values())


def _asked_for(task: _Task) -> frozenset[str]:
    """Return rules that fire on a mutant, and not on the kernel as it is, with `--pedantic`."""
    before = Counter(task.said[True]) if task.said is not None else Counter()
    return frozenset(rules_that_fire(task.text, pedantic=True) - before)


# ---------------------------------------------------------------- reports


def table(records: Iterable[Record]) -> str:
    """Return a table of mutants by operator and outcome; harmless ones are counted apart."""
    columns = (
        "violated", "rules", "pedantic", "contract", "unknown", "partly", "holds", "harmless", "failed",
    )  # fmt: skip
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        if record.operator:
            counts[record.operator][_column(record)] += 1
            counts["all"][_column(record)] += 1
    lines = ["| operator | mutants | " + " | ".join(columns) + " |", "| --- " * (len(columns) + 2) + "|"]
    every = (*OPERATORS, *STRUCTURE_OPERATORS)
    order = [operator.name for operator in every if operator.name in counts]
    for name in [*order, *(["all"] if counts else [])]:
        row = counts[name]
        cells = [str(row[column] or "") for column in columns]
        lines.append(f"| {name} | {sum(row.values())} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _column(record: Record) -> str:
    if record.harmless is not None:
        return "harmless"
    return "holds" if record.outcome.holds else record.outcome.value


def as_json(records: Iterable[Record]) -> str:
    """Return the records as JSON, one object each."""
    rows = [{**asdict(record), "outcome": record.outcome.value} for record in records]
    return json.dumps(rows, indent=1) + "\n"
