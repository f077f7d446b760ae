"""Compare what the instruction table accepts with what ptxas accepts, on generated statements.

    python -m benchmarks.ptxas_differential --target sm_90a --target sm_100a

makes valid statements from every form of the table and breaks some of them, lets both judge each one, and
prints how often they agree. Disagreements that are listed with a reason in `ptxas_disagreements.toml` are
counted apart.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ptxcheck.ir import (
    Instruction,
    Module,
    Register,
    Symbol,
    Variable,
)
from ptxcheck.isa import forms_of, requirement_problems, rows_by_mnemonic
from ptxcheck.isa.operands import operand_problems
from ptxcheck.opcodes.spec import Form
from ptxcheck.opcodes.target import Target, Version
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from tests.isa.generator import (
    FIRST_LINE,
    Statement,
    enumerate_form,
    modifier_words,
    module,
    mutations,
)

_MESSAGE = re.compile(r"line (\d+); (error|fatal)\s*: (.*)")
_QUOTED = re.compile(r"'[^']*'")
_STOP = "ptxcheck_stop;"
"""An unknown instruction at the end: ptxas then reports all errors and compiles nothing."""

_DATA = Path(__file__).with_name("ptxas_disagreements.toml")
_CHUNK = 400
_MAX_ROUNDS = 400
_CRASHED = (134, 136, 139)
"""Exit codes of a shell wrapper whose child died of a signal."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The two verdicts on one statement: what each complains of, or None."""

    statement: Statement
    ours: str | None
    ptxas: str | None

    @property
    def agrees(self) -> bool:
        return (self.ours is None) == (self.ptxas is None)


@dataclass(frozen=True, slots=True)
class Listed:
    """A disagreement that is accepted, with its reason."""

    pattern: re.Pattern[str]
    ours: str
    """`accepts` or `rejects`."""
    reason: str

    def covers(self, outcome: Outcome) -> bool:
        verdict = "accepts" if outcome.ours is None else "rejects"
        return verdict == self.ours and self.pattern.search(outcome.statement.text) is not None


def load_listed(path: Path = _DATA) -> tuple[Listed, ...]:
    """Read the accepted disagreements."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Listed(re.compile(one["statement"]), one["ours"], one["reason"]) for one in data["disagreement"]
    )


def judge_ptxas(
    lines: Sequence[str], version: Version, target: Target, ptxas: str = "ptxas"
) -> dict[int, str]:
    """Return ptxas' complaint for each line that it rejects.

    It stops at syntax errors and at what it calls fatal: such lines are blanked and the rest tried again.
    """
    found: dict[int, str] = {}
    remaining = list(lines)
    for _ in range(_MAX_ROUNDS):
        messages = _run_ptxas(module([*remaining, _STOP], version, target), target, ptxas)
        if messages is None:
            return found | _judge_halves(remaining, found, version, target, ptxas)
        stopped = False
        for at, severity, text in messages:
            if 0 <= at < len(lines):
                found.setdefault(at, text)
                if severity == "fatal" or "yntax error" in text:
                    remaining[at] = ""
                    stopped = True
        if not stopped:
            return found
    raise RuntimeError("ptxas keeps stopping")


def _judge_halves(
    lines: Sequence[str], found: Mapping[int, str], version: Version, target: Target, ptxas: str
) -> dict[int, str]:
    """Judge the two halves of what made ptxas crash; a single line that does so is rejected."""
    numbers = [at for at, line in enumerate(lines) if line]
    if len(numbers) == 1:
        return {numbers[0]: "ptxas crashes"}
    middle = numbers[len(numbers) // 2]
    first = judge_ptxas(lines[:middle], version, target, ptxas)
    second = judge_ptxas(lines[middle:], version, target, ptxas)
    return first | {at + middle: text for at, text in second.items()}


def _run_ptxas(text: str, target: Target, ptxas: str) -> list[tuple[int, str, str]] | None:
    """Return line, severity and text of each message; None when ptxas crashed."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        command = [ptxas, f"-arch={target}", "-o", "/dev/null", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0 or done.returncode in _CRASHED:
        return None
    if "ptxas" not in done.stderr:
        raise RuntimeError(f"ptxas said nothing: {done.returncode} {done.stderr[:200]}")
    return [(int(m[1]) - FIRST_LINE, m[2], m[3]) for m in _MESSAGE.finditer(done.stderr)]


def judge_table(lines: Sequence[str], version: Version, target: Target) -> dict[int, str]:
    """Return the table's complaint for each line that it rejects."""
    source = Source("generated.ptx", module(lines, version, target))
    parsed = parse_module(source)
    found: dict[int, str] = {}
    for problem in parsed.problems:
        found.setdefault(source.position(problem.span.start).line - FIRST_LINE, problem.message)
    for function in parsed.functions:
        if function.body is None:
            continue
        for problem in function.body.problems:
            found.setdefault(source.position(problem.span.start).line - FIRST_LINE, problem.message)
        types = function.body.register_types
        spaces = _spaces(parsed, function.body.variables)
        length_of = _lengths(function.body.variables)
        for instruction in function.body.instructions:
            line = source.position(instruction.start).line - FIRST_LINE
            for message in _complaints(instruction, parsed, types, spaces, length_of):
                found.setdefault(line, message)
    return found


def _spaces(parsed: Module, local: Iterable[Variable]) -> Mapping[str, str]:
    spaces = {name: variable.space for name, variable in parsed.variables.items()}
    for variable in local:
        spaces[variable.name] = variable.space
    return spaces


def _lengths(variables: Iterable[Variable]) -> Callable[[Register], int | None]:
    """Return the number of elements of declared registers; parameterised names by their stem."""
    lengths = {one.name: int(one.vector[2:]) if one.vector else 1 for one in variables if one.space == ".reg"}

    def length_of(register: Register) -> int | None:
        return lengths.get(register.name, lengths.get(register.name.rstrip("0123456789")))

    return length_of


def _complaints(
    instruction: Instruction,
    parsed: Module,
    types: Mapping[Register, str],
    spaces: Mapping[str, str],
    length_of: Callable[[Register], int | None],
) -> Iterator[str]:
    operation = instruction.operation
    if operation.problem is not None:
        yield operation.problem
        return
    yield from requirement_problems(operation, parsed.version, parsed.target)

    def space_of(symbol: Symbol) -> str | None:
        return spaces.get(symbol.name)

    yield from operand_problems(operation, instruction.operands, types.get, space_of, length_of)


def chosen_forms(prefixes: Sequence[str]) -> Iterator[Form]:
    """Yield the forms of mnemonics that start with one of the prefixes; all when there are none."""
    for mnemonic in rows_by_mnemonic():
        if not prefixes or any(mnemonic == one or mnemonic.startswith(f"{one}.") for one in prefixes):
            yield from forms_of(mnemonic)


def generate(
    forms: Iterable[Form], version: Version, target: Target, *, limit: int, broken: int, seed: int
) -> list[Statement]:
    """Return distinct statements: valid ones of each form, and broken neighbours of `broken` of them."""
    rng = random.Random(seed)
    found: dict[str, Statement] = {}
    for form in forms:
        valid = list(enumerate_form(form, version, target, limit, seed))
        for statement in valid:
            found.setdefault(statement.text, statement)
        words = modifier_words(form.mnemonic)
        for statement in rng.sample(valid, min(broken, len(valid))):
            for mutant in mutations(statement, rng, words):
                found.setdefault(mutant.text, mutant)
    return list(found.values())


def compare(
    statements: Sequence[Statement], version: Version, target: Target, ptxas: str = "ptxas", workers: int = 2
) -> Iterator[Outcome]:
    """Yield both verdicts on each statement."""
    chunks = [statements[at : at + _CHUNK] for at in range(0, len(statements), _CHUNK)]

    def judge(chunk: Sequence[Statement]) -> dict[int, str]:
        return judge_ptxas([one.text for one in chunk], version, target, ptxas)

    with ThreadPoolExecutor(workers) as pool:
        for chunk, theirs in zip(chunks, pool.map(judge, chunks), strict=True):
            ours = judge_table([one.text for one in chunk], version, target)
            for at, statement in enumerate(chunk):
                yield Outcome(statement, ours.get(at), theirs.get(at))


def _report(outcomes: Sequence[Outcome], listed: Sequence[Listed], show: int) -> int:
    """Print figures and the first disagreements; return how many are not listed."""
    sorts: Counter[tuple[str, str]] = Counter()
    open_: list[Outcome] = []
    for outcome in outcomes:
        sort = outcome.statement.change or "valid"
        if outcome.agrees:
            sorts[sort, "accepted" if outcome.ours is None else "rejected"] += 1
        elif any(one.covers(outcome) for one in listed):
            sorts[sort, "listed"] += 1
        else:
            sorts[sort, "open"] += 1
            open_.append(outcome)
    columns = ("accepted", "rejected", "listed", "open")
    print(f"{'':22}" + "".join(f"{column:>10}" for column in columns))
    for sort in sorted({sort for sort, _ in sorts}):
        print(f"{sort:22}" + "".join(f"{sorts[sort, column]:>10}" for column in columns))
    for (verdict, mnemonic, why), group in _grouped(open_)[:show]:
        print(f"{len(group):5} we {verdict} {mnemonic}: {why}")
        for outcome in group[:2]:
            print(f"        {outcome.statement.text}   ({outcome.statement.change or 'valid'})")
    return len(open_)


def _grouped(outcomes: Iterable[Outcome]) -> list[tuple[tuple[str, str, str], list[Outcome]]]:
    """Return the outcomes by what was said of them, largest group first."""
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        verdict = "accept" if outcome.ours is None else "reject"
        why = _QUOTED.sub("…", outcome.ours or outcome.ptxas or "")
        groups.setdefault((verdict, outcome.statement.mnemonic, why), []).append(outcome)
    return sorted(groups.items(), key=lambda item: -len(item[1]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--target", action="append", help="target architecture; may be repeated")
    parser.add_argument("--version", default="9.0", help="PTX version of the modules")
    parser.add_argument("--ptxas", default="ptxas", help="the assembler to compare with")
    parser.add_argument("--limit", type=int, default=100, help="valid statements of a form")
    parser.add_argument("--broken", type=int, default=10, help="statements of a form to break")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=40, help="disagreements to print")
    parser.add_argument("mnemonics", nargs="*", help="only these, with what follows after a dot")
    options = parser.parse_args(arguments)
    listed = load_listed()
    version = Version.parse(options.version)
    total_open = 0
    for name in options.target or ["sm_90a"]:
        target = Target.parse(name)
        statements = generate(
            chosen_forms(options.mnemonics),
            version,
            target,
            limit=options.limit,
            broken=options.broken,
            seed=options.seed,
        )
        print(f"{target}, PTX {version}: {len(statements)} statements")
        total_open += _report(list(compare(statements, version, target, options.ptxas)), listed, options.show)
    return 1 if total_open else 0


if __name__ == "__main__":
    sys.exit(main())
