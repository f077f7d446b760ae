"""Break what kernels do with wgmma, tcgen05 and tensor memory, and count which rules say so.

    python -m benchmarks.matrix_mutants corpus [triton …] [--match NAME] [--limit 1] [--operator NAME] [--verify]
    python -m benchmarks.matrix_mutants corpus triton --match sm_90a --match sm_100a --limit 1 --verify --seconds 3
        [--share 0.3 --seed 1] [--out ROWS.jsonl]

`--match` and `--limit` are for other groups than `corpus`. `--share` judges a random part of the mutants. `--out` keeps
what each file gave, and goes on from there.

`corpus` are the good kernels of `corpus/good` and `corpus/protocols`. A mutant is found when a rule says something of
it that it does not say of the kernel: a WG or TM rule, another one, or one that is only asked for (`--pedantic`,
`--possible`). With `--verify`, what no rule finds by itself is verified as a whole: violated, unknown, or it still
holds, or is even proved. Of those that nobody finds, the mutants of `mutation/harmless_matrix.toml` are harmless, for
the reasons given there. What is not found is printed. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from pathlib import Path

import ptxcheck
from benchmarks.corpora.store import default_root
from benchmarks.mutation.harmless import Harmless, load_harmless, why_harmless
from benchmarks.mutation.matrix_operators import MATRIX_OPERATORS, Standing, matrix_mutants
from benchmarks.mutation.subject import subjects
from ptxcheck.config import Config
from ptxcheck.finding import Confidence
from ptxcheck.protocols.typestate.tensor_cores import PROPERTIES
from ptxcheck.results import Report
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

_HARMLESS = Path(__file__).parent / "mutation" / "harmless_matrix.toml"
_CORPUS = Path(__file__).parents[1] / "corpus"
_LARGEST = 300_000
_UNITS = ("wgmma.", "tcgen05.")
_LINT = Config(verify=False)
_STRICT = replace(_LINT, pedantic=True, possible=True)


class Answer(Enum):
    """Who says that a mutant is wrong."""

    UNIT = "WG, TM"
    OTHER = "other rules"
    STRICT = "pedantic, possible"
    VIOLATED = "violated"
    HARMLESS = "harmless"
    UNKNOWN = "unknown"
    HOLDS = "nobody"
    PROVED = "proved"


_SAID_RIGHT = frozenset({Answer.STRICT, Answer.HOLDS, Answer.PROVED})
_FOUND = frozenset({Answer.UNIT, Answer.OTHER, Answer.VIOLATED})


def main() -> int:
    """Run the campaign; return 1 when a mutant that is wrong is not found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="+", metavar="corpus|GROUP|FILE")
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--limit", type=int, help="mutants of each operator in one kernel")
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--seconds", type=float, default=4.0, help="for the verification of one mutant")
    parser.add_argument("--share", type=float, default=1.0, help="part of the mutants that is judged")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keeps the answers of each file, and goes on from there")
    options = parser.parse_args()
    counts: Counter[tuple[str, Answer]] = Counter()
    listed = load_harmless(_HARMLESS)
    done = _kept(options.out)
    for path in _files(options.groups, options.match):
        if (name := f"{path.parent.name}/{path.name}") not in done:
            done[name] = list(_answers(path, options, listed))
            _keep(options.out, name, done[name])
        counts.update((operator, Answer(value)) for operator, value in done[name])
    print(_table(counts))
    print(_figure(counts))
    wrong = {operator.name for operator in MATRIX_OPERATORS if operator.standing is Standing.WRONG}
    missed = {Answer.STRICT, Answer.UNKNOWN, Answer.HOLDS, Answer.PROVED}
    return int(any(name in wrong and answer in missed for name, answer in counts))


def _answers(
    path: Path, options: argparse.Namespace, listed: Sequence[Harmless]
) -> Iterator[tuple[str, str]]:
    """Yield the operator of each mutant of a file, and what is said of it."""
    limit = None if _CORPUS in path.parents else options.limit
    for subject in subjects(Source(path.name, path.read_text(encoding="utf-8"))):
        before = _Before(subject.text, Config(verify_seconds=options.seconds))
        draw = random.Random(f"{options.seed} {path.name} {subject.function.name}")
        for operator, mutant in matrix_mutants(subject, limit):
            if options.operator and operator.name not in options.operator:
                continue
            if draw.random() >= options.share:
                continue
            answer = before.judge(mutant.text, verify=options.verify)
            if answer in _SAID_RIGHT and why_harmless(listed, path.name, mutant):
                answer = Answer.HARMLESS
            yield operator.name, answer.value
            if answer not in (*_FOUND, Answer.HARMLESS):
                print(
                    f"{path.name}:{mutant.line}: {operator.name}: {answer.value}: {mutant.statement[:90]}",
                    file=sys.stderr,
                    flush=True,
                )


def _kept(path: Path | None) -> dict[str, list[tuple[str, str]]]:
    """Return the answers that an earlier run has kept, by file."""
    if path is None or not path.is_file():
        return {}
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {entry["file"]: [(name, value) for name, value in entry["answers"]] for entry in entries}


def _keep(path: Path | None, name: str, answers: Sequence[tuple[str, str]]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"file": name, "answers": answers}) + "\n")


def _figure(counts: Counter[tuple[str, Answer]]) -> str:
    """Return how many mutants that are not harmless are found."""
    asked = sum(n for (_, answer), n in counts.items() if answer is not Answer.HARMLESS)
    found = sum(n for (_, answer), n in counts.items() if answer in _FOUND)
    return f"found {found} of {asked} that are not harmless ({100 * found / max(asked, 1):.2f} %)"


def _files(groups: list[str], matches: Sequence[str]) -> Iterator[Path]:
    for group in groups:
        folder = default_root() / "ptx" / group
        if group == "corpus":
            found = sorted(_CORPUS.glob("good/*.ptx"))
            found += sorted(p for p in _CORPUS.glob("protocols/*/*.ptx") if p.name.count(".") == 1)
        else:
            found = sorted(folder.glob("*.ptx")) if folder.is_dir() else [Path(group)]
            found = [path for path in found if not matches or any(part in path.name for part in matches)]
        for path in found:
            if path.stat().st_size <= _LARGEST and any(unit in path.read_text() for unit in _UNITS):
                yield path


class _Before:
    """What is said of a kernel before it is broken."""

    def __init__(self, text: str, whole: Config) -> None:
        self._whole = whole
        self._lint = _said(text, _LINT)
        self._strict = _said(text, _STRICT)
        self._text = text

    @cached_property
    def _report(self) -> Report:
        return _check(self._text, self._whole)

    @cached_property
    def _rules(self) -> frozenset[str]:
        """What rules and verification say of the kernel."""
        return frozenset(finding.rule for finding in self._report.active)

    @cached_property
    def _undecided(self) -> frozenset[Property]:
        """Properties of one thread's code that are unknown of the kernel itself, and say nothing of its mutants."""
        found = _verdicts(self._report)
        return frozenset(which for which in PROPERTIES if found.get(which) is VerdictKind.UNKNOWN)

    def judge(self, text: str, *, verify: bool) -> Answer:
        """Return who says that a mutant is wrong."""
        new = _said(text, _LINT) - self._lint
        if any(rule.startswith(("WG", "TM")) for rule in new):
            return Answer.UNIT
        if new:
            return Answer.OTHER
        answer = self._verified(text) if verify else Answer.HOLDS
        if answer is not Answer.VIOLATED and _said(text, _STRICT) - self._strict:
            return Answer.STRICT
        return answer

    def _verified(self, text: str) -> Answer:
        mutant = _check(text, self._whole)
        if any(f.rule not in self._rules and f.confidence is Confidence.PROVED for f in mutant.active):
            return Answer.VIOLATED
        kinds = {kind for which, kind in _verdicts(mutant).items() if which not in self._undecided}
        if VerdictKind.UNKNOWN in kinds:
            return Answer.UNKNOWN
        return Answer.PROVED if kinds == {VerdictKind.PROVED} else Answer.HOLDS


def _verdicts(report: Report) -> dict[Property, VerdictKind]:
    """Return the verdicts on the only kernel of a report."""
    tables = [kernel.verification for kernel in report.kernels if kernel.verification is not None]
    return {verdict.property: verdict.kind for table in tables for verdict in table.verdicts}


def _said(text: str, config: Config) -> Counter[str]:
    """Return how often each rule fires. Raises ValueError for text that is not PTX."""
    report = _check(text, config)
    if report.problems:
        raise ValueError(report.problems[0].message)
    return Counter(finding.rule for finding in report.active)


def _check(text: str, config: Config) -> Report:
    return ptxcheck.check(Source("kernel.ptx", text), config=config)


def _table(counts: Counter[tuple[str, Answer]]) -> str:
    """Return the counts as a table, an operator a row."""
    lines = [
        "| operator | mutants | " + " | ".join(answer.value for answer in Answer) + " |",
        "| --- | --- |" + " --- |" * len(Answer),
    ]
    for name in [*(operator.name for operator in MATRIX_OPERATORS), "all"]:
        row = [
            sum(n for (each, found), n in counts.items() if name in (each, "all") and found is answer)
            for answer in Answer
        ]
        if sum(row):
            lines.append(f"| {name} | {sum(row)} | " + " | ".join(str(n or "") for n in row) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
