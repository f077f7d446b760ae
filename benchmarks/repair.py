"""Repair everything that is known to be broken, and count what came of it.

python -m benchmarks.repair rules --out RESULTS.jsonl [--family MB,TX]     the bad kernel of each rule
python -m benchmarks.repair corpus --out RESULTS.jsonl                    corpus/bad and the twins of corpus/protocols
python -m benchmarks.repair mutants --folder FOLDER --out RESULTS.jsonl   violated mutants; `prepare` and `judge`
                                                                          of benchmarks.hardware made the folder
python -m benchmarks.repair optimise --folder FOLDER --out RESULTS.jsonl  correct kernels, mutants that wait for more
python -m benchmarks.repair table RESULTS.jsonl                           what came of it
python -m benchmarks.repair audit RESULTS.jsonl --texts TEXTS             repaired twins that do less than the correct
                                                                          kernel

Each case is one line of the results; a case that has a line is not repaired again, so a campaign may be interrupted.
With --keep the patched texts are written to a folder: benchmarks.hardware runs them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from benchmarks.hardware.entries import read_judged, read_manifest
from ptxcheck.config import Config
from ptxcheck.parser import parse_module
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.assemble import find_ptxas
from ptxcheck.repair.optimise import optimise
from ptxcheck.repair.search import repair
from ptxcheck.repair.trial import Runs
from ptxcheck.repair.weighing import Assembler, Safety
from ptxcheck.repair.work import Workload
from ptxcheck.rules import RULES, select_rules
from ptxcheck.source import Source
from ptxcheck.view import KernelView

_ROOT = Path(__file__).resolve().parents[1]
_NICENESS = 5
_LATE = 4.0
"""Times the limit after which a case is broken off: the search itself looks at the clock."""
_AGAIN = 1.0
"""Seconds after which a limit is raised again: one that comes in a destructor is lost."""
_GOOD = frozenset({"safe", "faster", "nothing"})
_HOLDS = frozenset({"proved", "proved-bounded", "assumes"})
_SLOWER = frozenset(
    {"duplicate-barrier", "duplicate-fence", "duplicate-group-wait", "earlier-group-wait", "groups-1"}
)
"""Operators of mutation that make a kernel wait for more, or more often."""


@dataclass(frozen=True, slots=True)
class Case:
    """A broken text. `right` is the text that it was made from, "" when there is none."""

    name: str
    group: str
    text: str
    right: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What came of one case."""

    name: str
    group: str
    rules: tuple[str, ...]
    """Of the findings before the repair."""
    outcome: str
    """safe, suggested, left; `nothing` when nothing was found, `time` when it took too long; `faster` when
    synchronisation was found redundant."""
    restored: bool
    """The repaired text is the right one, but for white space."""
    seconds: float
    tried: int
    done: tuple[str, ...]
    """Strategies and what they did, and findings that are left."""


def rule_cases(families: Iterable[str]) -> Iterator[Case]:
    """Yield the bad kernel of each rule of some families, all when there are none."""
    chosen = tuple(families)
    for rule in RULES:
        if rule.bad and rule.id.startswith(chosen or ("",)):
            yield Case(rule.id, rule.id[:2], rule.bad)


def corpus_cases() -> Iterator[Case]:
    """Yield the PTX of the bad corpus, and each broken twin of a protocol with the file it is a twin of."""
    for path in sorted((_ROOT / "corpus" / "bad").rglob("*.ptx")):
        name = str(path.relative_to(_ROOT / "corpus"))
        yield Case(name, f"bad/{path.parent.name[:2]}", path.read_text(encoding="utf-8"))
    for path in sorted((_ROOT / "corpus" / "protocols").rglob("*.*.ptx")):
        good = path.with_name(path.name.split(".")[0] + ".ptx")
        text = path.read_text(encoding="utf-8")
        if " violated" in text and good.exists():
            name = str(path.relative_to(_ROOT / "corpus"))
            yield Case(name, f"protocols/{path.parent.name}", text, good.read_text(encoding="utf-8"))


def mutant_cases(folder: Path, each: int | None, kernels: frozenset[str]) -> Iterator[Case]:
    """Yield the mutants that were judged violated, at most `each` of a kernel and operator, of some kernels or all."""
    judged = read_judged(folder)
    seen: Counter[tuple[str, str]] = Counter()
    for entry in read_manifest(folder):
        kernel = entry.name.split("/")[0]
        known = judged.get(entry.name)
        if not entry.operator or known is None or not (known.findings or known.verdict == "violated"):
            continue
        if kernels and kernel not in kernels:
            continue
        seen[kernel, entry.operator] += 1
        if each is None or seen[kernel, entry.operator] <= each:
            text, right = (
                (folder / name).read_text(encoding="utf-8") for name in (entry.image, f"{kernel}.ptx")
            )
            yield Case(entry.name, entry.operator, text, right)


def optimise_cases(folder: Path, kernels: frozenset[str]) -> Iterator[Case]:
    """Yield the kernels that the mutants were made from, and proved mutants that synchronise more; of some or all."""
    judged = read_judged(folder)
    for entry in read_manifest(folder):
        known = judged.get(entry.name)
        slower = entry.operator in _SLOWER and known is not None and known.verdict in _HOLDS
        if (slower or not entry.operator) and (not kernels or entry.name.split("/")[0] in kernels):
            text = (folder / entry.image).read_text(encoding="utf-8")
            yield Case(f"{entry.name}+optimise", "optimise", text)


def optimised(case: Case, *, verify_seconds: float, limit_seconds: float) -> tuple[Record, str]:
    """Remove redundant synchronisation of one correct kernel within a time; return the changed text as well."""
    begin = time.perf_counter()
    config = Config(verify_seconds=verify_seconds)
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    judge = TextJudge(f"{case.name}.ptx", rules, config)
    target = parse_module(Source(case.name, case.text)).targets[0]
    better = optimise(case.text, judge, Assembler(find_ptxas(), target), seconds=limit_seconds)
    seconds = round(time.perf_counter() - begin, 2)
    done = [
        f"line {each.line}: {each.patch.summary}" + (" if" if each.assumption else "")
        for each in better.redundant
    ]
    outcome = "faster" if better.redundant else "left" if better.skipped else "nothing"
    record = Record(
        case.name, case.group, (), outcome, False, seconds, better.tried, (*done, *better.skipped)
    )
    return record, better.text


def repaired(case: Case, *, verify_seconds: float, limit_seconds: float) -> tuple[Record, str]:
    """Repair one case within a time; return the patched text as well."""
    config = Config(verify_seconds=verify_seconds)
    begin, started = time.perf_counter(), time.process_time()

    def record(
        outcome: str, found: Iterable[str], done: Iterable[str], tried: int, text: str
    ) -> tuple[Record, str]:
        same = bool(case.right) and _squeezed(text) == _squeezed(case.right)
        seconds = round(time.perf_counter() - begin, 2)
        return Record(case.name, case.group, tuple(found), outcome, same, seconds, tried, tuple(done)), text

    found: tuple[str, ...] = ()
    with _alarm(limit_seconds * _LATE) as alarm:
        rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
        judge = TextJudge(f"{case.name}.ptx", rules, config)
        found = tuple(f.rule for f in judge(case.text).findings)
        if not found:
            rules = select_rules(RULES, config.select, config.ignore, pedantic=True, possible=True)
            judge = TextJudge(f"{case.name}.ptx", rules, Config(verify_seconds=verify_seconds, possible=True))
            found = tuple(f.rule for f in judge(case.text).findings)
        if not found:
            return record("nothing", (), (), 0, case.text)
        target = parse_module(Source(case.name, case.text)).targets[0]
        outcome = repair(
            case.text,
            judge,
            Assembler(find_ptxas(), target),
            quick=judge.rules_only,
            brief=judge.brief,
            plain=judge.plain,
            seconds=limit_seconds,
        )
    if alarm.rang:
        return record("time", found, (), 0, case.text)
    done = [f"{p.strategy}: {p.summary}" for r in outcome.repairs for p in r.patches]
    left = [f"left: {f.rule} {f.message}" for f in outcome.left]
    kinds = {r.safety for r in outcome.repairs}
    late = left and time.process_time() - started > limit_seconds
    word = "time" if late else "left" if left else "suggested" if Safety.SUGGESTED in kinds else "safe"
    return record(word, found, done + left, sum(r.tried for r in outcome.repairs), outcome.text)


def _squeezed(text: str) -> list[str]:
    kept = (line.split("//")[0].split() for line in text.splitlines())
    return [" ".join(words) for words in kept if words and words[0] != ".loc"]


class _OutOfTimeError(BaseException):
    """Raised by the alarm; no handler of ordinary errors catches it."""


@dataclass(slots=True)
class _Alarm:
    rang: bool = False


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[_Alarm]:
    """Leave the block after so many seconds of processor time; `rang` tells that it was left so."""
    alarm = _Alarm()
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield alarm
    except _OutOfTimeError:
        alarm.rang = True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise _OutOfTimeError


def campaign(cases: Iterable[Case], out: Path, arguments: argparse.Namespace) -> int:
    """Repair each case that has no line yet, until the time is up; return how many."""
    known = {r.name for r in read_records(out) if r.outcome in _GOOD or not arguments.again}
    end = time.monotonic() + arguments.seconds
    count = 0
    for case in cases:
        if case.name in known:
            continue
        if time.monotonic() > end:
            break
        do = optimised if case.group == "optimise" else repaired
        record, text = do(case, verify_seconds=arguments.verify_seconds, limit_seconds=arguments.limit)
        if arguments.keep is not None:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{case.name.replace('/', '-')}.ptx").write_text(text, encoding="utf-8")
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(record)) + "\n")
        count += 1
    return count


def read_records(path: Path) -> list[Record]:
    """Read the results, the last of each case; a half-written last line is left out."""
    found: dict[str, Record] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[row["name"]] = Record(**{**row, "rules": tuple(row["rules"]), "done": tuple(row["done"])})
    return list(found.values())


def audit(records: Iterable[Record], texts: Path) -> list[str]:
    """Return the safely repaired twins of `corpus/protocols` that do less than the correct kernel, for some size."""
    right = {case.name: case.right for case in corpus_cases()}
    found = []
    for record in records:
        if record.outcome == "safe" and right.get(record.name):
            text = (texts / f"{record.name.replace('/', '-')}.ptx").read_text(encoding="utf-8")
            if Workload.of(_kernel(right[record.name])).is_lost(Runs(_kernel(text))):
                found.append(record.name)
    return found


def _kernel(text: str) -> KernelView:
    """Return the one kernel of a text, with the launch that its comments give."""
    (view,) = TextJudge("kernel.ptx", (), Config(verify=False))(text).views.values()
    return view


def show_table(records: Iterable[Record]) -> str:
    """Return the results as a table, by family of rules, folder or operator."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.group].append(record)
    words = ("safe", "suggested", "left", "time", "nothing")
    lines = [f"| | {' | '.join(words)} | restored | median seconds |", "| --- " * 8 + "|"]
    rows = [*sorted(groups.items()), ("all", [r for group in groups.values() for r in group])]
    for name, group in rows:
        counts = Counter(record.outcome for record in group)
        restored = sum(record.restored for record in group)
        median = statistics.median([r.seconds for r in group]) if group else 0.0
        cells = [name, *(str(counts[word]) for word in words), str(restored), f"{median:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Run one part of the campaign, or show the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("rules", "corpus", "mutants", "optimise"):
        part = parts.add_parser(name)
        part.add_argument("--keep", type=Path, help="folder for the patched texts")
        part.add_argument("--out", type=Path, required=True)
        part.add_argument("--seconds", type=float, default=3600.0, help="begin no case after so long")
        part.add_argument("--limit", type=float, default=120.0, help="seconds of processor time for one case")
        part.add_argument("--again", action="store_true", help="repair again what was not repaired safely")
        part.add_argument("--verify-seconds", type=float, default=5.0, help="for one verification")
        if name == "rules":
            part.add_argument("--family", default="", help="such as MB,TX")
        if name in ("mutants", "optimise"):
            part.add_argument("--folder", type=Path, required=True)
            part.add_argument("--kernels", default="", help="such as ring,gemm")
        if name == "mutants":
            part.add_argument("--each", type=int, help="at most so many of a kernel and operator")
    parts.add_parser("table").add_argument("results", type=Path)
    audited = parts.add_parser("audit")
    audited.add_argument("results", type=Path)
    audited.add_argument("--texts", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.part == "table":
        print(show_table(read_records(arguments.results)))
        return 0
    if arguments.part == "audit":
        fewer = audit(read_records(arguments.results), arguments.texts)
        print("\n".join([*fewer, f"{len(fewer)} do less than the correct kernel"]))
        return 0
    os.nice(_NICENESS)
    if arguments.part == "rules":
        cases = rule_cases(name for name in arguments.family.split(",") if name)
    elif arguments.part == "corpus":
        cases = corpus_cases()
    else:
        kernels = frozenset(name for name in arguments.kernels.split(",") if name)
        cases = (
            optimise_cases(arguments.folder, kernels)
            if arguments.part == "optimise"
            else mutant_cases(arguments.folder, arguments.each, kernels)
        )
    print(campaign(cases, arguments.out, arguments), "cases")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
