"""Litmus tests of the axioms and ordering rules, on a GPU and by the checker.

python -m benchmarks.litmus                     run (needs a GPU), judge, table
python -m benchmarks.litmus run [--only NAME]   counts into results/; needs a GPU and cuda-python
python -m benchmarks.litmus judge [--only NAME] what the checker says of each kernel, into results/verdicts.json
python -m benchmarks.litmus table               writes benchmarks/litmus.md
python -m benchmarks.litmus write FOLDER        the kernels, as PTX
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .program import kernel_name, program
from .results import FOLDER
from .table import SUITE


def main() -> int:
    """Do one step, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", nargs="?", choices=("all", "run", "judge", "table", "write"), default="all")
    parser.add_argument("folder", nargs="?", type=Path, help="where to write the kernels")
    parser.add_argument("--only", default="", help="a part of the kernels' names")
    parser.add_argument(
        "--short-of",
        type=int,
        default=0,
        help="of run: only what showed nothing weak in fewer hand-overs than these, in all counts so far",
    )
    parser.add_argument(
        "--out", type=Path, default=FOLDER / "counts-gpu.json", help="of run: the file of counts"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of run: more or less time a kernel")
    parser.add_argument(
        "--seconds", type=float, default=900.0, help="of run: no kernel is begun behind so many"
    )
    arguments = parser.parse_args()
    if arguments.step == "write":
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for litmus in SUITE:
            for variant in litmus.variants:
                path = arguments.folder / f"{kernel_name(litmus, variant)}.ptx"
                path.write_text(program(litmus, variant), encoding="utf-8")
    if arguments.step in ("all", "run"):
        from .running import run_suite

        print(
            run_suite(
                arguments.out,
                scale=arguments.scale,
                only=arguments.only,
                short_of=arguments.short_of,
                deadline_seconds=arguments.seconds,
            )
        )
    if arguments.step in ("all", "judge"):
        from .judging import judge_suite

        print(judge_suite(arguments.only))
    if arguments.step in ("all", "table"):
        from .report import write_table

        print(write_table())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
