"""Run kernels and mutants on a GPU and set the outcome beside the verdict.

python -m benchmarks.hardware prepare FOLDER [--mutants 80]     needs nvcc, no GPU
python -m benchmarks.hardware judge FOLDER [--jobs 2]           what the checker says of each
python -m benchmarks.hardware run FOLDER --out RESULTS.jsonl    needs a GPU and cuda-python
python -m benchmarks.hardware table FOLDER                      reads FOLDER/results.jsonl
"""

from __future__ import annotations

import argparse
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Do one step of the campaign."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    prepare = steps.add_parser("prepare")
    prepare.add_argument("folder", type=Path)
    prepare.add_argument(
        "--mutants", type=int, default=80, help="at most so many a kernel, spread over operators"
    )
    prepare.add_argument("--perturbations", type=int, default=2)
    judge = steps.add_parser("judge")
    judge.add_argument("folder", type=Path)
    judge.add_argument("--jobs", type=int, default=1)
    run = steps.add_parser("run")
    run.add_argument("folder", type=Path)
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--jobs", type=int, default=4)
    run.add_argument("--seconds", type=float, default=500.0)
    table = steps.add_parser("table")
    table.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.step == "prepare":
        from .prepare import prepare_all

        print(
            prepare_all(arguments.folder, _ROOT, arguments.mutants, arguments.perturbations),
            "entries",
        )
    elif arguments.step == "judge":
        from .judging import judge_all

        print(judge_all(arguments.folder, arguments.jobs), "entries judged")
    elif arguments.step == "run":
        from .run import run_all

        ran, left = run_all(
            arguments.folder, arguments.out, jobs=arguments.jobs, seconds=arguments.seconds, root=_ROOT
        )
        print(f"{ran} entries run, {left} left")
    else:
        from .table import show_table

        print(show_table(arguments.folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
