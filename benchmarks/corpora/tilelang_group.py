"""Group `tilelang`: this project's own TileLang kernels, lowered to CUDA with no GPU, one process each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .compiled import KEEP_FREE_MB, REPOSITORY
from .environments import ensure
from .process import Ran, run
from .store import Cache, Row
from .toolchain import build_unit

GROUP = "tilelang"
LOWER_TIMEOUT = 300.0
FLAGS = ("-std=c++20", "-O3", "-w", "-DENABLE_BF16")
"""What TileLang gives nvcc itself, and no warnings from its headers."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One case for one target, as the worker lists it."""

    case: str
    target: str
    name: str
    digest: str


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Build every case for each of its targets, or those named in `wanted`."""
    python = ensure(cache, GROUP)
    listed: set[str] = set()
    flags = [*FLAGS, *(f"-I{folder}" for folder in json.loads(_worker(python, "includes").output))]
    for line in _worker(python, "list").output.splitlines():
        unit = Unit(*json.loads(line))
        listed.add(unit.name)
        if not wanted or {unit.case, unit.name} & wanted:
            yield _build_one(cache, python, unit, flags)
    cache.keep_only(GROUP, listed)


def _worker(python: Path, *arguments: str) -> Ran:
    ran = run(
        [python, "-m", f"{__package__}.tilelang_worker", *arguments],
        timeout=LOWER_TIMEOUT,
        keep_free_mb=KEEP_FREE_MB,
        cwd=REPOSITORY,
        env={"TILELANG_DISABLE_CACHE": "1"},
    )
    if not ran.ok and arguments[0] != "lower":
        raise RuntimeError(f"cannot list the cases:\n{ran.message}")
    return ran


def _build_one(cache: Cache, python: Path, unit: Unit, flags: list[str]) -> Row:
    source = cache.sources(GROUP) / f"{unit.name}.cu"
    made_from = f"// lowered from {unit.digest}\n"
    if not source.is_file() or not source.read_text(encoding="utf-8").startswith(made_from):
        draft = source.with_suffix(f".{os.getpid()}.tmp")
        ran = _worker(python, "lower", unit.case, unit.target, str(draft))
        if not ran.ok or not draft.is_file():
            draft.unlink(missing_ok=True)
            return _refused(cache, unit, ran)
        source.write_text(made_from + draft.read_text(encoding="utf-8"), encoding="utf-8")
        draft.unlink()
    return build_unit(cache, GROUP, unit.name, unit.target, source, flags)


def _refused(cache: Cache, unit: Unit, ran: Ran) -> Row:
    """The row of a unit that TileLang did not lower; its last line says why."""
    row = Row(
        group=GROUP,
        name=unit.name,
        target=unit.target,
        built=False,
        how=f"tilelang.lower of {unit.case} for {unit.target}",
        tool="tilelang",
        seconds=ran.seconds,
        peak_mb=ran.peak_mb,
        message=ran.stopped or ran.output.strip().rpartition("\n")[2],
    )
    cache.record(row)
    return row
