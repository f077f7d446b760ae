"""Run kernels and mutants on a GPU and set the outcome beside the verdict.

python -m benchmarks.hardware prepare FOLDER [--mutants 80]     needs nvcc, no GPU
python -m benchmarks.hardware prepare FOLDER --triton           Triton's kernels of the corpora; needs Triton
python -m benchmarks.hardware judge FOLDER [--jobs 2]           what the checker says of each; goes on
python -m benchmarks.hardware run FOLDER --out RESULTS.jsonl    needs a GPU and cuda-python
python -m benchmarks.hardware table FOLDER                      reads results.jsonl and judged.jsonl

python -m benchmarks.hardware prepare-more FOLDER OUT    what was found and ran right, under further delays: for `run`

Kernels that benchmarks.repair patched (mutants, optimise; with --keep TEXTS):

python -m benchmarks.hardware prepare-trials FOLDER --repairs RESULTS.jsonl --texts TEXTS --out TRIALS     needs ptxas
python -m benchmarks.hardware run-trials TRIALS --out RESULTS.jsonl                              needs a GPU; goes on
python -m benchmarks.hardware prepare-twins --repairs CORPUS.jsonl --texts TEXTS --out TRIALS
python -m benchmarks.hardware prepare-schedules --out TRIALS    schedules of corpus/runnable; needs nvcc
python -m benchmarks.hardware trial-table TRIALS --results RESULTS.jsonl
python -m benchmarks.hardware counters TRIALS … --out COUNTERS.jsonl    Nsight Compute; needs a GPU and ncu; goes on
python -m benchmarks.hardware predictions FOLDER … --counters COUNTERS.jsonl     beside what `show resources` says
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

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
    prepare.add_argument("--triton", action="store_true", help="Triton's kernels of the corpora instead")
    prepare.add_argument("--large", action="store_true", help="of --triton: products for times and counters")
    more = steps.add_parser("prepare-more")
    more.add_argument("folder", type=Path)
    more.add_argument("out", type=Path)
    more.add_argument("--perturbations", type=int, default=8)
    judge = steps.add_parser("judge")
    judge.add_argument("folder", type=Path)
    judge.add_argument("--jobs", type=int, default=1)
    judge.add_argument("--seconds", type=float, default=3600.0)
    run = steps.add_parser("run")
    run.add_argument("folder", type=Path)
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--jobs", type=int, default=4)
    run.add_argument("--seconds", type=float, default=500.0)
    table = steps.add_parser("table")
    table.add_argument("folder", type=Path)
    _add_trials(steps)
    arguments = parser.parse_args()
    if arguments.step in _TRIAL_STEPS:
        print(_TRIAL_STEPS[arguments.step](arguments))
    elif arguments.step == "prepare":
        from .prepare import prepare_all, prepare_triton

        how = arguments.mutants, arguments.perturbations
        if arguments.triton:
            print(prepare_triton(arguments.folder, *how, large=arguments.large), "entries")
        else:
            print(prepare_all(arguments.folder, _ROOT, *how), "entries")
    elif arguments.step == "prepare-more":
        from .prepare import prepare_more

        print(prepare_more(arguments.folder, arguments.out, _ROOT, arguments.perturbations), "entries")
    elif arguments.step == "judge":
        from .judging import judge_all

        count, left = judge_all(arguments.folder, arguments.jobs, arguments.seconds)
        print(f"{count} entries judged, {left} left")
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


def _add_trials(steps: Any) -> None:
    prepare = steps.add_parser("prepare-trials")
    prepare.add_argument("folder", type=Path)
    prepare.add_argument("--repairs", type=Path, nargs="+", required=True)
    prepare.add_argument("--texts", type=Path, required=True)
    prepare.add_argument("--out", type=Path, required=True)
    prepare.add_argument("--perturbations", type=int, default=3)
    prepare.add_argument("--ptx", action="store_true", help="leave assembling to the driver")
    twins = steps.add_parser("prepare-twins")
    twins.add_argument("--repairs", type=Path, nargs="+", required=True)
    twins.add_argument("--texts", type=Path, required=True)
    twins.add_argument("--out", type=Path, required=True, help="a folder of the checkout, also one of trials")
    twins.add_argument("--perturbations", type=int, default=3)
    schedules = steps.add_parser("prepare-schedules")
    schedules.add_argument("--out", type=Path, required=True)
    schedules.add_argument("--perturbations", type=int, default=2)
    run = steps.add_parser("run-trials")
    run.add_argument("folder", type=Path)
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--jobs", type=int, default=4)
    run.add_argument("--seconds", type=float, default=500.0)
    run.add_argument("--sanitized", type=int, default=4, help="trials of each kernel under Compute Sanitizer")
    counters = steps.add_parser("counters")
    counters.add_argument(
        "folders", type=Path, nargs="*", help="folders of trials; questions are always counted"
    )
    counters.add_argument("--out", type=Path, required=True)
    counters.add_argument("--seconds", type=float, default=500.0)
    predictions = steps.add_parser("predictions")
    predictions.add_argument("folders", type=Path, nargs="*", help="folders of `prepare`")
    predictions.add_argument("--counters", type=Path, required=True)
    table = steps.add_parser("trial-table")
    table.add_argument("folder", type=Path)
    table.add_argument("--results", type=Path, required=True)


def _prepare_trials(arguments: argparse.Namespace) -> str:
    from .prepare_trials import prepare_trials

    count = prepare_trials(
        arguments.folder,
        arguments.repairs,
        arguments.texts,
        arguments.out,
        _ROOT,
        seeds=arguments.perturbations,
        cubins=not arguments.ptx,
    )
    return f"{count} trials"


def _prepare_twins(arguments: argparse.Namespace) -> str:
    from .twins import prepare_twins

    count = prepare_twins(
        arguments.repairs, arguments.texts, arguments.out, _ROOT, seeds=arguments.perturbations
    )
    return f"{count} trials added"


def _prepare_schedules(arguments: argparse.Namespace) -> str:
    from .prepare_schedules import prepare_schedules

    return "\n".join(prepare_schedules(arguments.out, _ROOT, seeds=arguments.perturbations))


def _run_trials(arguments: argparse.Namespace) -> str:
    from .run_trials import Effort, run_trials

    effort = Effort(arguments.jobs, arguments.seconds, arguments.sanitized)
    done, left = run_trials(arguments.folder, arguments.out, _ROOT, effort)
    return f"{done} steps done, {left} left"


def _counters(arguments: argparse.Namespace) -> str:
    from .counters import count_all

    done, left = count_all(arguments.folders, arguments.out, _ROOT, arguments.seconds)
    return f"{done} kernels counted, {left} left"


def _predictions(arguments: argparse.Namespace) -> str:
    from .predictions import show_predictions

    return show_predictions(arguments.folders, arguments.counters, _ROOT)


def _trial_table(arguments: argparse.Namespace) -> str:
    from .trial_table import show_trials

    return show_trials(arguments.folder, arguments.results)


_TRIAL_STEPS = {
    "prepare-trials": _prepare_trials,
    "prepare-twins": _prepare_twins,
    "prepare-schedules": _prepare_schedules,
    "run-trials": _run_trials,
    "trial-table": _trial_table,
    "counters": _counters,
    "predictions": _predictions,
}


if __name__ == "__main__":
    raise SystemExit(main())
