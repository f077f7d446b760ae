"""Verdicts for all sizes against runs with larger sizes than those that they rest on.

    python -m benchmarks.larger_sizes [FILE.ptx ...] [--seconds 20] [--sizes 6] [--seed 1]

Each kernel (of the good corpus by default) that is decided for every number of one parameter because its rounds
repeat is verified again with numbers of that parameter far above those that were run. Nothing of the argument takes
part in that. It exits with 1 when such a run goes wrong.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxcheck.cfg import build
from ptxcheck.cfg.inlining import kernels_of
from ptxcheck.ir import Function, Module
from ptxcheck.launches.hints import (
    LaunchHint,
    launch_of,
    parse_assumption,
    parse_hint,
)
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.verify import uses_barriers, verify
from ptxcheck.source import Source
from ptxcheck.verdict import VerdictKind

_CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "protocols"
_HINT = re.compile(r"//\s*ptxcheck:\s*launch (.*)")
_REPEATS = re.compile(r"run for every (\S+) up to (-?\d+); from (-?\d+) on, (\d+) more add")


@dataclass(frozen=True, slots=True)
class Proof:
    """A verdict for every number of a parameter."""

    parameter: str
    last: int
    """The largest number that was run."""
    period: int


def proof_of(result: Verification) -> Proof | None:
    """Return what a verdict for all sizes says, None when there is none that rests on rounds that repeat."""
    found = _REPEATS.match(result.for_all or "")
    return Proof(found[1], int(found[2]), int(found[4])) if found else None


def larger(proof: Proof, count: int, generator: random.Random) -> list[int]:
    """Return numbers above those that were run: the next ones, and some far away."""
    near = range(proof.last + 1, proof.last + 1 + (count + 1) // 2)
    far = [
        proof.last + proof.period * generator.randint(2, 40) + generator.randint(0, 7)
        for _ in range(count // 2)
    ]
    return [*near, *sorted(far)]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel, and the launch that its file states."""

    module: Module
    function: Function
    hints: tuple[LaunchHint, ...]

    def verified(self, more: Iterable[LaunchHint], seconds: float) -> Verification:
        """Verify it, with more known of its launch."""
        launch, _ = launch_of(self.function, [*self.hints, *more])
        return verify(build(self.function), self.function, self.module, launch, seconds=seconds)


def worst(result: Verification) -> VerdictKind:
    """Return `violated` when a property is, `unknown` when one is not decided, else the weakest good verdict."""
    kinds = {verdict.kind for verdict in result.verdicts()}
    order = (VerdictKind.VIOLATED, VerdictKind.UNKNOWN, VerdictKind.ASSUMES, VerdictKind.PROVED_BOUNDED)
    return next((kind for kind in order if kind in kinds), VerdictKind.PROVED)


def good_kernels() -> Sequence[Path]:
    """Return the kernels of the corpus without the broken twins, whose names have a second part."""
    return sorted(path for path in _CORPUS.rglob("*.ptx") if "." not in path.stem)


def _kernels(path: Path) -> Iterator[Kernel]:
    text = path.read_text(encoding="utf-8")
    module = parse_module(Source(path.name, text))
    hints = tuple(parse_hint(found[1], path.name) for found in _HINT.finditer(text))
    for function in kernels_of(module):
        if function.body is not None and uses_barriers(build(function)):
            yield Kernel(module, function, hints)


def main() -> None:
    """Check the kernels and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="limit for the verification of one kernel"
    )
    parser.add_argument("--sizes", type=int, default=6, help="larger sizes of each kernel")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    ran, undecided, wrong = 0, 0, 0
    for path in options.files or good_kernels():
        for kernel in _kernels(path):
            result = kernel.verified((), options.seconds)
            proof = proof_of(result)
            if proof is None:
                continue
            kinds = []
            for number in larger(proof, options.sizes, generator):
                size = parse_assumption(f"{proof.parameter}={number}")
                kinds.append(worst(kernel.verified([size], options.seconds)))
            ran += len(kinds)
            undecided += kinds.count(VerdictKind.UNKNOWN)
            wrong += kinds.count(VerdictKind.VIOLATED)
            print(path.stem, result.for_all, *(kind.value for kind in kinds), sep=" | ", flush=True)
    print(f"{ran} larger sizes: {wrong} go wrong, {undecided} undecided")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
