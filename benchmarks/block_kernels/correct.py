"""Correct kernels: what is said of each, and how long that takes beside `ptxas -O3`.

    python -m benchmarks.block_kernels.correct FOLDER [--every N] [--ptxas] [--save FILE]

Prints a line for each kernel that has a finding or is not decided, and the sums. The ratio to ptxas is that of
each kernel alone in a file: the time to read and judge it, over that of ptxas, with and without its start.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from .subject import Answer, alone, answer, files, views

_RUNS = 3
"""Runs of ptxas of which the fastest counts: the start alone varies by as much as small kernels take."""


def main() -> None:
    """Judge all kernels of a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every Nth kernel of the folder only")
    parser.add_argument("--ptxas", action="store_true", help="compare with the processor time of `ptxas -O3`")
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    answers: dict[str, Answer] = {}
    ratios: list[tuple[_Ratios, str]] = []
    number = -1
    for path in files(arguments.folder):
        for view in views(path.read_text(encoding="utf-8"), path.name):
            number += 1
            if number % arguments.every:
                continue
            found = answer(view)
            answers[f"{path.stem}:{found.name}"] = found
            if found.failure or found.kind in ("violated", "unknown"):
                print(f"{path.stem}: {found.name}: {found.kind}", flush=True)
                for text in (found.failure, *found.findings, *found.with_some_data[:2], *found.reasons[:4]):
                    print(f"    {text}") if text else None
            if arguments.ptxas:
                ratios.append((_ratios(alone(view, in_place=False)), f"{path.stem}:{found.name}"))
    counts = Counter(each.kind for each in answers.values())
    times = sorted(each.seconds for each in answers.values())
    print(f"{len(answers)} kernels:", ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    if times:
        print(f"processor time: median {statistics.median(times):.3f} s, most {times[-1]:.2f} s")
    if ratios:
        for title, index in (("ptxas -O3", 0), ("ptxas -O3 without its start", 1)):
            each = sorted((pair[index], name) for pair, name in ratios)
            median, (most, slowest) = statistics.median(ratio for ratio, _ in each), each[-1]
            print(f"ratio to {title}: median {median:.2f}, most {most:.1f} ({slowest})")
    if arguments.save:
        kinds = {name: each.kind for name, each in sorted(answers.items())}
        arguments.save.write_text(json.dumps(kinds, indent=1) + "\n", encoding="utf-8")


class _Ratios(NamedTuple):
    """The processor time to read and judge a kernel, over that of ptxas."""

    to_all: float
    to_all_but_the_start: float
    """The start is what an empty kernel takes."""


def _ratios(text: str) -> _Ratios:
    begin = time.process_time()
    for view in views(text, "alone.ptx"):
        answer(view)
    mine = time.process_time() - begin
    head = "\n".join(
        line for line in text.splitlines() if line.startswith((".version", ".target", ".address_size"))
    )
    with tempfile.TemporaryDirectory() as folder:
        empty, kernel = Path(folder, "empty.ptx"), Path(folder, "kernel.ptx")
        empty.write_text(f"{head}\n.visible .entry k() {{ ret; }}\n", encoding="ascii")
        kernel.write_text(text, encoding="utf-8")
        theirs, start = (min(_seconds(path, folder) for _ in range(_RUNS)) for path in (kernel, empty))
        return _Ratios(mine / theirs, mine / max(theirs - start, 0.001))


def _seconds(path: Path, folder: str) -> float:
    text = path.read_text(encoding="utf-8")
    target = text.split(".target", 1)[1].split()[0].rstrip(",")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["ptxas", "-O3", f"-arch={target}", "-o", str(Path(folder, "out.cubin")), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
