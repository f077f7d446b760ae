"""Judge the pairs, and print what is missed and what is a false alarm.

    python -m benchmarks.red_team [--by-runs] [FOLDER]

With `--by-runs`, the product of role automata is not asked before runs are made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.verdict import VerdictKind

_FOLDER = Path(__file__).parent


class Judgement(Enum):
    """What is said of a kernel."""

    FOUND = "found"
    OPEN = "not decided"
    NOTHING = "nothing wrong"


def judged(path: Path, *, for_every_count: bool = True) -> Judgement:
    """Check one kernel with default settings."""
    report = check([str(path)], config=Config(for_every_count=for_every_count))
    tables = [kernel.verification for kernel in report.kernels if kernel.verification is not None]
    kinds = {each.kind for table in tables for each in table.verdicts}
    if report.active or VerdictKind.VIOLATED in kinds:
        return Judgement.FOUND
    return Judgement.OPEN if VerdictKind.UNKNOWN in kinds else Judgement.NOTHING


def lines(folder: Path, *, for_every_count: bool) -> Iterator[str]:
    """Yield what is wrong with the answers, and their numbers."""
    for kind in ("good", "bad"):
        counted = dict.fromkeys(Judgement, 0)
        for path in sorted(folder.glob(f"*.{kind}.ptx")):
            answer = judged(path, for_every_count=for_every_count)
            counted[answer] += 1
            if answer is (Judgement.FOUND if kind == "good" else Judgement.NOTHING):
                yield f"{path.name}: {answer.value}"
        yield f"{kind}: " + ", ".join(f"{number} {each.value}" for each, number in counted.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="benchmarks.red_team", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=_FOLDER)
    parser.add_argument("--by-runs", action="store_true")
    options = parser.parse_args()
    found = lines(options.folder, for_every_count=not options.by_runs)
    sys.stdout.writelines(f"{line}\n" for line in found)
