"""Reports against themselves: is each limit kept, is each violation told, does no finding contradict a verdict?

    python -m benchmarks.consistency [--seconds 5] FILE_OR_FOLDER...

Each PTX file is checked as `ptxcheck check` does it. A kernel that takes more than twice the limit in processor time, a
property that is `violated` in a kernel of which no finding is certain, and a certain finding of a rule about one thread
beside a proof of all that the rule approximates are printed, and make the exit code 1. The limit of a file is that of
one kernel for each of its kernels.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.finding import Confidence
from ptxcheck.results import Report
from ptxcheck.rules import RULES
from ptxcheck.verdict import VerdictKind

MOST_OVER = 2.0
"""What a check may take, in its limit."""


def contradicted(report: Report) -> list[tuple[str, int]]:
    """Return the findings that are certain of a defect which verification of the same kernel shows not to be."""
    approximated = {rule.id: set(rule.approximates) for rule in RULES}
    proved = {
        kernel.name: {v.property for v in kernel.verification.verdicts if v.kind is VerdictKind.PROVED}
        for kernel in report.kernels
        if kernel.verification is not None
    }
    return [
        (finding.rule, finding.location.primary.line)
        for finding in report.active
        if finding.confidence is Confidence.PROVED
        and finding.kernel in proved
        and (properties := approximated.get(finding.rule))
        and properties <= proved[finding.kernel]
    ]


def untold(report: Report) -> list[tuple[str, str]]:
    """Return the properties that are violated in kernels of which no finding is certain."""
    told = {each.kernel for each in report.active if each.confidence is Confidence.PROVED}
    return [
        (kernel.name, verdict.property.value)
        for kernel in report.kernels
        if kernel.verification is not None and kernel.name not in told
        for verdict in kernel.verification.verdicts
        if verdict.kind is VerdictKind.VIOLATED
    ]


def limits_taken(report: Report, spent: float, seconds: float) -> float:
    """Return what a check took, in limits of its kernels."""
    kernels = sum(kernel.verification is not None for kernel in report.kernels)
    return spent / (seconds * max(kernels, 1))


def main() -> int:
    """Check the files and print what does not fit; return 1 when anything does not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=5.0, help="effort for verifying one kernel")
    arguments = parser.parse_args()
    files = [file for path in arguments.paths for file in _files(path)]
    found, slowest = 0, (0.0, "")
    for file in files:
        started = time.process_time()
        report = check(str(file), config=Config(verify_seconds=arguments.seconds))
        taken = limits_taken(report, time.process_time() - started, arguments.seconds)
        slowest = max(slowest, (taken, str(file)))
        said = [f"{rule} in line {line} is refuted" for rule, line in contradicted(report)]
        said += [f"{kernel}: {which} is violated, and no finding" for kernel, which in untold(report)]
        said += [f"{taken:.2f} times the limit"] if taken > MOST_OVER else []
        found += len(said)
        for text in said:
            print(f"{file}: {text}", flush=True)
    print(f"{len(files)} files, {found} found; longest {slowest[0]:.2f} times the limit ({slowest[1]})")
    return 1 if found else 0


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.ptx")) if path.is_dir() else [path]


if __name__ == "__main__":
    raise SystemExit(main())
