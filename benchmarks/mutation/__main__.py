"""Break kernels in every way that `operators.py` knows, and count what the verifier says.

    python -m benchmarks.mutation corpus                    # the good kernels of corpus/protocols
    python -m benchmarks.mutation triton --limit 3          # a group of the corpora, or files
    python -m benchmarks.mutation corpus --match ring/ --operator parity --json mutants.json

Only kernels of which some property holds as they are (proved, proved-bounded, assumes) and none is violated are
broken. A mutant of which all properties still hold must be shown to be harmless by `redundant.py`, or listed in
`harmless.toml` with its reason; each one that is not is printed, and makes the exit status 1. So does a harmless mutant
that is called violated, and an exception.
`partly` counts mutants of which the same properties hold as before, while others are unknown; `--partly` prints them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.corpora.store import default_root
from ptxcheck.launches.hints import parse_hint

from .campaign import Outcome, Record, as_json, run, table
from .harmless import load_harmless

_CORPUS = Path(__file__).parents[2] / "corpus" / "protocols"


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="corpus|GROUP|FILE")
    parser.add_argument("--match", action="append", default=[], help="only files whose names contain this")
    parser.add_argument("--operator", action="append", help="only this operator; may be repeated")
    parser.add_argument("--structure", action="store_true", help="change branches, chosen threads and bounds")
    parser.add_argument("--limit", type=int, help="mutants of each operator in one kernel")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants of each kernel, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default 1)")
    parser.add_argument("--kernels", type=int, help="kernels of each file")
    parser.add_argument("--seconds", type=float, default=20.0, help="time for one verification")
    parser.add_argument("--partly", action="store_true", help="print mutants that still hold in part")
    parser.add_argument(
        "--launch", action="append", default=[], help="as for `ptxcheck check`: block=128 cluster=2"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=default_root(), help="folder of the corpora")
    parser.add_argument("--json", type=Path, help="write every record here")
    options = parser.parse_args()
    found = _files(options.files, options.cache)
    files = [each for each in found if all(part in each[0] for part in options.match)]
    records: list[Record] = []
    for record in run(
        files, load_harmless(), operators=frozenset(options.operator) if options.operator else None,
        limit=options.limit, sample=options.sample, seed=options.seed, seconds=options.seconds,
        jobs=options.jobs, kernels=options.kernels,
        structure=options.structure, launch=tuple(parse_hint(text, "--launch") for text in options.launch),
    ):  # fmt: skip
        records.append(record)
        _say(record, partly=options.partly)
        if options.json is not None:
            options.json.write_text(as_json(records), encoding="utf-8")
    print()
    print(table(records))
    bases = [record for record in records if not record.operator]
    print(
        f"\n{len(bases)} kernels, {sum(record.outcome.holds for record in bases)} of them hold and were broken"
    )
    if options.json is not None:
        options.json.write_text(as_json(records), encoding="utf-8")
    return int(any(_is_bad(record) for record in records if record.operator))


def _files(names: list[str], cache: Path) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    for name in names:
        folder = cache / "ptx" / name
        if name == "corpus":
            paths = sorted(path for path in _CORPUS.rglob("*.ptx") if path.name.count(".") == 1)
            found += [(path.relative_to(_CORPUS).as_posix(), path) for path in paths]
        elif folder.is_dir():
            found += [(f"{name}/{path.name}", path) for path in sorted(folder.glob("*.ptx"))]
        else:
            found.append((name, Path(name)))
    return found


def _is_bad(record: Record) -> bool:
    return record.survives or record.false_alarm or record.outcome.value == "failed"


def _say(record: Record, *, partly: bool) -> None:
    if not record.operator:
        why = "" if record.outcome.holds else f": {record.detail[:150]}"
        print(f"{record.file} {record.kernel[:60]}: {record.outcome.value}{why}")
    elif _is_bad(record) or (partly and record.outcome is Outcome.PARTLY and record.harmless is None):
        what = "HARMLESS BUT VIOLATED" if record.false_alarm else record.outcome.value.upper()
        print(
            f"    {what} {record.operator} line {record.line}: {record.statement[:110]} {record.detail[:150]}"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
