"""Record what is said of every kernel of the corpora, and compare two records.

    python -m benchmarks.snapshot write [corpus mutants triton …]     # a record of each group
    python -m benchmarks.snapshot write triton --out /tmp/after       # elsewhere
    python -m benchmarks.snapshot compare benchmarks/snapshots /tmp/after

`corpus` is every `.ptx` and `.cu` of `corpus/`, `mutants` a fixed sample of mutants of its protocols; other groups
are those of `python -m benchmarks.corpora build`. A record has a line a kernel: each property with its verdict, what it
takes for granted or asks of the host, findings by rule and line, and a digest of all that JSON says of it, texts
included. What is done is in `GROUP.jsonl.part` till all is. `compare` tells changes of verdicts, of findings, of
assumptions, and of texts alone apart; it exits with 1 when a verdict or a finding changed. Time is the processor's, so
a busy machine gives the same record; a kernel for which it ran out is marked `late`, and is compared by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.corpora.store import default_root
from benchmarks.mutation.operators import mutants
from benchmarks.mutation.subject import subjects
from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.report.json import render_json
from ptxcheck.source import Source

ROOT = Path(__file__).parents[1]
HOME = Path(__file__).parent / "snapshots"
_EFFORT = 60.0
_MANY_TEXTS = 100
"""Groups of so many texts are handed out four at a time; library files one by one, as each takes long."""
_MUTANTS_OF_A_KERNEL = 4
_SEED = 7
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Unit:
    """One text to check: a file, or a mutant of one."""

    name: str
    path: Path
    text: str | None = None
    """None: the file as it is."""


def units(group: str, cache: Path) -> Iterator[Unit]:
    """Yield what a group consists of, in order."""
    if group == "corpus":
        for path in sorted((ROOT / "corpus").rglob("*")):
            if path.suffix in (".ptx", ".cu"):
                yield Unit(path.relative_to(ROOT).as_posix(), path)
    elif group == "mutants":
        yield from _mutants()
    else:
        for path in sorted((cache / "ptx" / group).glob("*.ptx")):
            yield Unit(f"{group}/{path.name}", path)


def _mutants() -> Iterator[Unit]:
    folder = ROOT / "corpus" / "protocols"
    for path in sorted(folder.rglob("*.ptx")):
        if path.name.count(".") > 1:
            continue  # a broken twin
        name = path.relative_to(folder).as_posix()
        for subject in subjects(Source(name, path.read_text(encoding="utf-8"))):
            found = list(mutants(subject))
            count = min(_MUTANTS_OF_A_KERNEL, len(found))
            for index in sorted(Random(f"{_SEED} {name}").sample(range(len(found)), count)):
                mutant = found[index]
                yield Unit(f"{name}~{mutant.operator}:{mutant.line}", path, mutant.text)


def rows(unit: Unit, effort: float = _EFFORT) -> list[dict[str, Any]]:
    """Return the lines of a record that are about one text: one for the text, one for each of its kernels."""
    os.chdir(ROOT)
    config = Config(verify_seconds=effort)
    target = (
        os.path.relpath(unit.path, ROOT)
        if unit.text is None and unit.path.is_relative_to(ROOT)
        else Source(unit.name, unit.path.read_text(encoding="utf-8") if unit.text is None else unit.text)
    )
    checked = check(target, config=config)
    late = {each.name for each in checked.kernels if each.verification and each.verification.out_of_time}
    report = json.loads(render_json(checked))
    found: list[dict[str, Any]] = [
        {
            "unit": unit.name,
            "effort": effort,
            "problems": len(report["problems"]),
            "json": _digest(report),
        }
    ]
    for kernel in report["kernels"]:
        own = [each for each in report["findings"] if each["kernel"] == kernel["name"]]
        verification = kernel.get("verification") or {}
        found.append(
            {
                "unit": unit.name,
                "kernel": kernel["name"],
                "verdicts": {
                    each["property"]: each["verdict"] for each in verification.get("properties", ())
                },
                "assumptions": sorted(
                    [
                        *(each["text"] for each in verification.get("assumptions", ())),
                        *verification.get("equations", ()),
                    ]
                ),
                "findings": sorted(f"{each['rule']}@{each['location']['ptx']['line']}" for each in own),
                **({"late": True} if kernel["name"] in late else {}),
                "json": _digest([kernel, own]),
            }
        )
    return found


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def write(group: str, cache: Path, out: Path, jobs: int, effort: float = _EFFORT) -> None:
    """Write the record of one group."""
    out.mkdir(parents=True, exist_ok=True)
    chosen = list(units(group, cache))
    if not chosen:
        raise SystemExit(f"{group}: nothing there; build it with: python -m benchmarks.corpora build {group}")
    part, lines = out / f"{group}.jsonl.part", 0
    at_once = 4 if len(chosen) >= _MANY_TEXTS else 1
    with (
        multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=40) as pool,
        part.open("w", encoding="utf-8") as file,
    ):
        for each in pool.imap(partial(rows, effort=effort), chosen, chunksize=at_once):
            lines += len(each)
            file.writelines(json.dumps(row) + "\n" for row in each)
            file.flush()
    part.replace(out / f"{group}.jsonl")
    print(f"{group}: {len(chosen)} texts, {lines - len(chosen)} kernels")


def _read(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row["unit"], row.get("kernel", "")): row for row in lines}


def compare(before: Path, after: Path) -> int:
    """Print what changed from one folder of records to another; return 1 for verdicts or findings."""
    serious = 0
    for path in sorted(after.glob("*.jsonl")):
        if not (before / path.name).exists():
            print(f"{path.stem}: no record before")
            continue
        old, new = _read(before / path.name), _read(path)
        if _efforts(old) != _efforts(new):
            print(
                f"{path.stem}: efforts {_efforts(old)} and {_efforts(new)}, so that verdicts may differ for that"
            )
        counts: Counter[str] = Counter()
        for key in sorted({*old, *new}):
            kind = _difference(key, old.get(key), new.get(key))
            counts[kind] += 1
            serious += kind not in ("same", "texts")
        print(f"{path.stem}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return int(serious > 0)


def _efforts(record: Mapping[tuple[str, str], dict[str, Any]]) -> list[float]:
    """Return the efforts of a record; those that do not say it are of the usual one."""
    return sorted({row.get("effort", _EFFORT) for (_, kernel), row in record.items() if not kernel})


def _difference(key: tuple[str, str], old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    """Say what kind of change there is, and print it unless it is one of texts alone."""
    name = " ".join(part for part in key if part)
    if old is None or new is None:
        print(f"  {name}: {'new' if old is None else 'gone'}")
        return "new or gone"
    for kind in ("verdicts", "findings", "assumptions", "problems"):
        if old.get(kind) != new.get(kind):
            late = " (time ran out)" if old.get("late") or new.get("late") else ""
            print(f"  {name}: {kind}{late}\n    - {_shown(old, new, kind)}\n    + {_shown(new, old, kind)}")
            return kind
    return "same" if old["json"] == new["json"] else "texts"


def _shown(row: dict[str, Any], other: dict[str, Any], kind: str) -> str:
    """Return what one record has and the other has not."""
    mine, others = row.get(kind), other.get(kind)
    if isinstance(mine, dict) and isinstance(others, dict):
        return ", ".join(f"{name} {value}" for name, value in mine.items() if others.get(name) != value)
    if isinstance(mine, list) and isinstance(others, list):
        return "; ".join(sorted((Counter(mine) - Counter(others)).elements()))
    return str(mine)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write records, or compare them."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.snapshot", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("groups", nargs="*", default=["corpus", "mutants"])
    writing.add_argument("--out", type=Path, default=HOME)
    writing.add_argument("--cache", type=Path, default=default_root())
    writing.add_argument("--jobs", type=int, default=2)
    writing.add_argument(
        "--effort", type=float, default=_EFFORT, help="for each kernel, as of `ptxcheck check`"
    )
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args(arguments)
    if options.command == "compare":
        return compare(options.before, options.after)
    for group in options.groups:
        write(group, options.cache, options.out, options.jobs, options.effort)
    return 0


if __name__ == "__main__":
    sys.exit(main())
