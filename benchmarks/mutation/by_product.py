"""Mutants and broken kernels through the product of role automata: is anything shown that runs find broken?

    python -m benchmarks.mutation.by_product corpus --kernels 25 --sample 4
    python -m benchmarks.mutation.by_product benchmarks/red_team/*.bad.ptx --as-they-are

Each of the first `--kernels` kernels of which the product shows all is broken in `--sample` ways, chosen at random by
`--seed`, with `--structure` in branches, chosen threads and bounds. What the product shows of those is verified with
it and without it. *Hole*: a property that the product shows, and that runs violate. *Weaker*: one that runs leave
unknown. *Failed*: an exception, a bug of ptxcheck. Exit status 1 where there is a hole or a failure. `--as-they-are`
asks the same of the kernels of files, unbroken.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from ptxcheck.protocols.product.for_all import Shown
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from ptxcheck.verdict import Verdict, VerdictKind

from .judge import HOLDS, judge, launched
from .operators import OPERATORS, mutants
from .structure_operators import STRUCTURE_OPERATORS
from .subject import subjects

_CORPUS = Path(__file__).parents[2] / "corpus" / "protocols"
_BY_PRODUCT = "holds for every count of rounds"


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.mutation.by_product",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="corpus|FILE")
    parser.add_argument("--as-they-are", action="store_true", help="do not break the kernels")
    parser.add_argument("--kernels", type=int, default=25, help="so many that hold (default 25)")
    parser.add_argument("--sample", type=int, default=4, help="mutants of each (default 4)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default 1)")
    parser.add_argument("--structure", action="store_true", help="change branches, chosen threads and bounds")
    parser.add_argument("--seconds", type=float, default=8.0, help="effort for one verification")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    broken = 0
    for path in _files(options.files, options.seed):
        name = path.name
        for subject in subjects(Source(name, path.read_text(encoding="utf-8"))):
            kernel = subject.function.name
            if options.as_they_are:
                _count(counts, name, kernel, "", subject.text, options.seconds)
                continue
            if broken >= options.kernels:
                break
            if not is_shown(name, kernel, subject.text, options.seconds):
                continue
            broken += 1
            operators = STRUCTURE_OPERATORS if options.structure else OPERATORS
            found = list(mutants(subject, operators))
            chosen = Random(f"{options.seed} {name} {kernel}").sample(found, min(options.sample, len(found)))
            for mutant in chosen:
                what = f"{mutant.operator} line {mutant.line}: {mutant.statement[:80]}"
                _count(counts, name, kernel, what, mutant.text, options.seconds)
    print(f"{broken} kernels broken; " + ", ".join(f"{counts[key]} {key}" for key in sorted(counts)))
    return int(counts["hole"] + counts["failed"] > 0)


def _files(names: Sequence[str], seed: int) -> Iterator[Path]:
    for name in names:
        if name != "corpus":
            yield Path(name)
            continue
        found = sorted(path for path in _CORPUS.rglob("*.ptx") if path.name.count(".") == 1)
        Random(seed).shuffle(found)
        yield from found


def verified(
    name: str, kernel: str, text: str, seconds: float, *, by_product: bool
) -> tuple[Verification, tuple[Verdict, ...]]:
    """Verify one kernel, with the product of role automata or without."""
    (found,) = judge(Source(name, text), kernel=kernel, seconds=seconds, for_every_count=by_product)
    return found.verification, found.verdicts


def is_by_product(verification: Verification) -> bool:
    """Tell whether the product has shown it, and not a period of the runs."""
    return (verification.for_all or "").startswith(_BY_PRODUCT)


def compared(by_product: Sequence[Verdict], by_runs: Sequence[Verdict]) -> str:
    """Return what verdicts of runs are to those of the product: `hole`, `weaker` or `same`."""
    runs = {verdict.property: verdict.kind for verdict in by_runs}
    kinds = {runs[verdict.property] for verdict in by_product if verdict.kind in HOLDS}
    if VerdictKind.VIOLATED in kinds:
        return "hole"
    return "weaker" if VerdictKind.UNKNOWN in kinds else "same"


def _count(counts: Counter[str], name: str, kernel: str, what: str, text: str, seconds: float) -> None:
    try:
        said = _said(name, kernel, text, seconds)
    except Exception as error:
        said, what = "failed", f"{what} {type(error).__name__}: {error}"
    counts[said] += 1
    if said != "not shown":
        print(f"{said.upper()} {name} {kernel[:40]} {what}")
        sys.stdout.flush()


def is_shown(name: str, kernel: str, text: str, seconds: float) -> bool:
    """Tell whether the product alone shows a kernel."""
    found = shown_for_every_count(*launched(Source(name, text), kernel), seconds=seconds)
    return isinstance(found, Shown) and not found.not_empty


def _said(name: str, kernel: str, text: str, seconds: float) -> str:
    if not is_shown(name, kernel, text, seconds):
        return "not shown"
    verification, verdicts = verified(name, kernel, text, seconds, by_product=True)
    if not is_by_product(verification):
        return "not shown"
    return compared(verdicts, verified(name, kernel, text, seconds, by_product=False)[1])


if __name__ == "__main__":
    raise SystemExit(main())
