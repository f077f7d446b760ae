"""Fuzz the whole check: any bytes, PTX-like token soup, and mutated real PTX.

    python -m benchmarks.fuzz --inputs 200000 [--seed 1] [--corpus FOLDER] [--jobs 2] [--no-verify] [--log FILE]

Inputs come in lots of 500, or 100, each with a seed of its own; what is known so far is printed after each. An input
goes through `ptxcheck.check`; an exception is a crash, and so are a rule or analysis that fails inside, and a property
that is `violated` with no finding on its kernel. Without
verification, an input that takes more than a second of processor time and more than `_LIMIT_SECONDS_PER_MB` for its
size is slow. With it (`--seconds` limits the effort for a kernel), one is that takes more than twice the limit for
each of its kernels. Both kinds are written to `--crashes` as soon as their lot is done. A campaign with `--log` goes on
where an earlier one with the same file ended; lots of other seeds and settings in it do not count.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.results import ProblemKind, Report
from ptxcheck.source import Source

from .consistency import MOST_OVER, limits_taken, untold

_TOKENS = (
    ".version 9.0\n.target sm_90a\n.address_size 64\n", ".visible .entry k(", ".param .u64 p", ")", "{",
    "}", ";", ",", ".reg .b32 %r<9>;", ".reg .pred %p<9>;", ".shared .align 8 .b64 bar;",
    "mbarrier.init.shared.b64 [bar], 1;", "@%p1 ", "bra L;", "L:", "add.s32 %r1, %r2, 3;",
    "ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [bar+4];", "ret;", "exit;", "wgmma.fence.sync.aligned;",
    "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;", ".loc 1 2 3\n", "/*", "*/", "//",
    "\n", "\"", "(", "[", "]", "<", ">", "=", "0x", "0f3F800000", "%tid.x", "_", "|", "!", ":",
    ".branchtargets L;", "brx.idx %r1, L;", ".pragma \"x\";", ".section .debug_str {", ".b8 1,2",
    ".global .b8 x[4] = {1,2};", "call f, (%r1);",
)  # fmt: skip
_LOT, _LOT_VERIFIED = 500, 100
_LOTS_OF_A_SEED = 1_000_000
_LIMIT_SECONDS_PER_MB = 60.0
_FREE_SECONDS = 1.0
_LONGEST_SEED = 200_000
_FROM_ALL, _TAKEN = 0.05, 3
"""How often any seed is as likely as any other; else the shortest of so many is taken."""


@dataclass(frozen=True)
class Lot:
    """What is made and checked in one piece."""

    seed: int
    inputs: int
    corpus: Path
    seconds: float | None = None
    """Effort for the verification of a kernel; None for no verification."""

    @property
    def name(self) -> str:
        return f"{self.seed} {self.inputs} {self.seconds}"


@dataclass
class Outcome:
    """What one worker saw."""

    inputs: int = 0
    megabytes: float = 0.0
    seconds: float = 0.0
    slowest: float = 0.0
    """Without verification in seconds for a megabyte, with it in limits of the kernels."""
    crashes: list[tuple[str, str]] = field(default_factory=list)
    slow: list[tuple[str, str]] = field(default_factory=list)


def main() -> int:
    """Run the campaign and print its figures; return 1 when anything crashed or was slow."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=Path("corpus"))
    parser.add_argument(
        "--verify", action=argparse.BooleanOptionalAction, default=True, help="whole kernels too"
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="effort for verifying one kernel")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--crashes", type=Path, default=Path("fuzz-crashes"))
    parser.add_argument("--log", type=Path, help="where lots that are done are kept")
    arguments = parser.parse_args()
    seconds = arguments.seconds if arguments.verify else None
    size = _LOT if seconds is None else _LOT_VERIFIED
    lots = [
        Lot(
            arguments.seed * _LOTS_OF_A_SEED + number,
            min(size, arguments.inputs - number * size),
            arguments.corpus,
            seconds,
        )
        for number in range(-(-arguments.inputs // size))
    ]
    done = _logged(arguments.log)
    outcomes = [done[lot.name] for lot in lots if lot.name in done]
    found = 0
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=32) as pool:
        for name, outcome in pool.imap_unordered(_run, [lot for lot in lots if lot.name not in done]):
            outcomes.append(outcome)
            for text, report in (*outcome.crashes, *outcome.slow):
                found += 1
                _keep(arguments.crashes / f"found-{name.partition(' ')[0]}-{found}.ptx", text, report)
            if arguments.log is not None:
                with arguments.log.open("a") as log:
                    log.write(json.dumps([name, asdict(outcome)]) + "\n")
            print(f"{sum(o.inputs for o in outcomes)} inputs, {found} found", flush=True)
    crashes = sum(len(outcome.crashes) for outcome in outcomes)
    slow = sum(len(outcome.slow) for outcome in outcomes)
    inputs = sum(outcome.inputs for outcome in outcomes)
    spent = sum(outcome.seconds for outcome in outcomes)
    print(
        f"inputs {inputs}, {sum(o.megabytes for o in outcomes):.1f} MB, {1000 * spent / inputs:.1f} ms each"
    )
    print(f"crashes {crashes}, slow {slow}")
    slowest = max(outcome.slowest for outcome in outcomes)
    print(
        f"slowest {slowest:.1f} s/MB over {_FREE_SECONDS} s" if seconds is None
        else f"slowest {slowest:.2f} times the limit of {seconds:g} s"
    )  # fmt: skip
    return 1 if crashes or slow else 0


def _logged(path: Path | None) -> dict[str, Outcome]:
    """Return the lots that an earlier campaign has done."""
    if path is None or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text().splitlines())
    return {name: Outcome(**outcome) for name, outcome in lines}


def _keep(path: Path, text: str, report: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    print(f"{path}: {report}", flush=True)


def _run(lot: Lot) -> tuple[str, Outcome]:
    return lot.name, run(lot)


def run(lot: Lot) -> Outcome:
    """Check the texts of a lot."""
    config = Config(verify=False) if lot.seconds is None else Config(verify_seconds=lot.seconds)
    generator = random.Random(lot.seed)
    outcome = Outcome()
    texts = _inputs(generator, lot.corpus)
    check(Source("warm-up.ptx", next(texts)), config=config)
    for _ in range(lot.inputs):
        text = next(texts)
        report = Report()
        started = time.process_time()
        try:
            report = check(Source("fuzz.ptx", text), config=config)
            outcome.crashes += [(text, p.message) for p in report.problems if p.kind is ProblemKind.TOOL]
            outcome.crashes += [(text, f"{name}: {which} and no finding") for name, which in untold(report)]
        except Exception:
            outcome.crashes.append((text, traceback.format_exc(limit=-6)))
        spent = time.process_time() - started
        outcome.inputs += 1
        outcome.megabytes += len(text) / 1e6
        outcome.seconds += spent
        if lot.seconds is None:
            ratio = max(0.0, spent - _FREE_SECONDS) / max(len(text), 1) * 1e6
            is_slow, unit = ratio > _LIMIT_SECONDS_PER_MB, "s/MB"
        else:
            ratio = limits_taken(report, spent, lot.seconds)
            is_slow, unit = ratio > MOST_OVER, "times the limit"
        outcome.slowest = max(outcome.slowest, ratio)
        if is_slow:
            outcome.slow.append((text, f"{ratio:.1f} {unit}, {len(text)} bytes"))
    return outcome


def _inputs(generator: random.Random, corpus: Path) -> Iterator[str]:
    paths = (path for path in sorted(corpus.rglob("*.ptx")) if path.stat().st_size < _LONGEST_SEED)
    seeds = sorted((path.read_text() for path in paths), key=len)
    makers = [_bytes, _soup] + ([_mutated] * 3 if seeds else [])
    while True:
        yield generator.choice(makers)(generator, seeds)


def _bytes(generator: random.Random, _: list[str]) -> str:
    return generator.randbytes(generator.randrange(400)).decode("latin-1")


def _soup(generator: random.Random, _: list[str]) -> str:
    body = generator.choices(_TOKENS, k=generator.randrange(1, 120))
    prefix = _TOKENS[0] + (".entry k() {" if generator.random() < 0.7 else "")
    return prefix + generator.choice(["", " ", "\n"]).join(body)


def _mutated(generator: random.Random, seeds: list[str]) -> str:
    taken = 1 if generator.random() < _FROM_ALL else _TAKEN
    text = seeds[min(generator.randrange(len(seeds)) for _ in range(taken))]
    for _ in range(generator.randrange(1, 6)):
        text = generator.choice((_cut, _swap_lines, _insert, _flip, _repeat))(generator, text)
    return text


def _cut(generator: random.Random, text: str) -> str:
    at = generator.randrange(len(text) + 1)
    return text[:at] + text[at + generator.randrange(1, 60) :]


def _swap_lines(generator: random.Random, text: str) -> str:
    lines = text.split("\n")
    one, two = generator.randrange(len(lines)), generator.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return "\n".join(lines)


def _insert(generator: random.Random, text: str) -> str:
    at = generator.randrange(len(text) + 1)
    return text[:at] + generator.choice(_TOKENS) + text[at:]


def _flip(generator: random.Random, text: str) -> str:
    if not text:
        return text
    at = generator.randrange(len(text))
    return text[:at] + chr(generator.randrange(1, 128)) + text[at + 1 :]


def _repeat(generator: random.Random, text: str) -> str:
    at = generator.randrange(len(text) + 1)
    piece = text[at : at + generator.randrange(1, 40)]
    return text[:at] + piece * generator.randrange(2, 200) + text[at:]


if __name__ == "__main__":
    raise SystemExit(main())
