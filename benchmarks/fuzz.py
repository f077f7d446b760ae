"""Fuzz the whole check: any bytes, PTX-like token soup, and mutated real PTX.

    python -m benchmarks.fuzz --inputs 200000 [--seed 1] [--corpus FOLDER] [--jobs 2] [--no-verify]

Inputs come in lots of 2000, each with a seed of its own; what is known so far is printed after each lot. An input
goes through `ptxcheck.check`; an exception is a crash, and so is a rule or analysis that fails inside. An input that
takes more than a second of processor time and more than `_LIMIT_SECONDS_PER_MB` for its size counts as slower than
linear. Both kinds are written to `--crashes` as soon as their lot is done.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.results import ProblemKind
from ptxcheck.source import Source

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
_LOT = 2000
_LIMIT_SECONDS_PER_MB = 60.0
_FREE_SECONDS = 1.0


@dataclass
class Outcome:
    """What one worker saw."""

    inputs: int = 0
    megabytes: float = 0.0
    seconds: float = 0.0
    slowest_ratio: float = 0.0
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
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--crashes", type=Path, default=Path("fuzz-crashes"))
    arguments = parser.parse_args()
    lots = -(-arguments.inputs // _LOT)
    tasks = [
        (
            arguments.seed * 1000 + lot,
            min(_LOT, arguments.inputs - lot * _LOT),
            arguments.corpus,
            arguments.verify,
        )
        for lot in range(lots)
    ]
    outcomes: list[Outcome] = []
    found = 0
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=8) as pool:
        for outcome in pool.imap_unordered(_run, tasks):
            outcomes.append(outcome)
            for text, report in (*outcome.crashes, *outcome.slow):
                found += 1
                _keep(arguments.crashes / f"found-{found}.ptx", text, report)
            print(f"{sum(o.inputs for o in outcomes)} inputs, {found} found", flush=True)
    crashes = sum(len(outcome.crashes) for outcome in outcomes)
    slow = sum(len(outcome.slow) for outcome in outcomes)
    print(f"inputs {sum(o.inputs for o in outcomes)}, {sum(o.megabytes for o in outcomes):.1f} MB")
    print(f"crashes {crashes}, slower than linear {slow}")
    print(f"slowest {max(o.slowest_ratio for o in outcomes):.1f} s/MB over {_FREE_SECONDS} s")
    return 1 if crashes or slow else 0


def _keep(path: Path, text: str, report: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    print(f"{path}: {report}", flush=True)


def _run(task: tuple[int, int, Path, bool]) -> Outcome:
    return run(*task)


def run(seed: int, inputs: int, corpus: Path, verify: bool = True) -> Outcome:
    """Check `inputs` generated texts."""
    config = Config(verify=verify)
    generator = random.Random(seed)
    outcome = Outcome()
    texts = _inputs(generator, corpus)
    check(Source("warm-up.ptx", next(texts)), config=config)
    for _ in range(inputs):
        text = next(texts)
        started = time.process_time()
        try:
            report = check(Source("fuzz.ptx", text), config=config)
            outcome.crashes += [(text, p.message) for p in report.problems if p.kind is ProblemKind.TOOL]
        except Exception:
            outcome.crashes.append((text, traceback.format_exc(limit=-6)))
        spent = time.process_time() - started
        outcome.inputs += 1
        outcome.megabytes += len(text) / 1e6
        outcome.seconds += spent
        ratio = max(0.0, spent - _FREE_SECONDS) / max(len(text), 1) * 1e6
        outcome.slowest_ratio = max(outcome.slowest_ratio, ratio)
        if ratio > _LIMIT_SECONDS_PER_MB:
            outcome.slow.append((text, f"{ratio:.1f} s/MB, {len(text)} bytes"))
    return outcome


def _inputs(generator: random.Random, corpus: Path) -> Iterator[str]:
    seeds = [path.read_text() for path in sorted(corpus.rglob("*.ptx")) if path.stat().st_size < 200_000]
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
    text = generator.choice(seeds)
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
