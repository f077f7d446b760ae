"""Group `cute_dsl`: kernels in the CuTe DSL (QuACK's, CUTLASS' examples), compiled with no GPU, one process each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .compiled import KEEP_FREE_MB, REPOSITORY, record
from .environments import ensure, packages
from .process import run
from .store import Cache, Row

GROUP = "cute_dsl"
COMPILE_TIMEOUT = 600.0
EXAMPLES = "flashinfer/data/cutlass/examples/python/CuTeDSL"
"""CUTLASS' examples of the DSL; FlashInfer's wheel has them, the wheel of CUTLASS has not."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One case, as the worker lists it."""

    case: str
    target: str
    name: str
    digest: str


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Compile every case, or those named in `wanted`."""
    python = ensure(cache, "cute_dsl")
    examples = packages(cache, "sources") / EXAMPLES
    worker: list[str | Path] = [python, "-m", f"{__package__}.cute_dsl_worker"]
    listing = run([*worker, "list"], timeout=60, cwd=REPOSITORY)
    if not listing.ok:
        raise RuntimeError(f"cannot list the cases:\n{listing.message}")
    units = [Unit(*json.loads(line)) for line in listing.output.splitlines()]
    for unit in units:
        if not wanted or {unit.case, unit.name} & wanted:
            kept = cache.built(GROUP, unit.name, unit.digest)
            yield kept or _build_one(cache, worker, unit, examples)
    cache.keep_only(GROUP, {unit.name for unit in units})


def _build_one(cache: Cache, worker: list[str | Path], unit: Unit, examples: Path) -> Row:
    output = cache.ptx(GROUP, unit.name)
    output.unlink(missing_ok=True)
    ran = run(
        [*worker, "build", unit.name, output],
        timeout=COMPILE_TIMEOUT,
        keep_free_mb=KEEP_FREE_MB,
        cwd=REPOSITORY,
        env={"CUTE_DSL_EXAMPLES": str(examples)},
    )
    built = ran.ok and output.is_file()
    return record(
        cache,
        ran,
        group=GROUP,
        name=unit.name,
        target=unit.target,
        digest=unit.digest,
        built=built,
        how=f"cute.compile of {unit.case} for {unit.target}",
        tool="cute-dsl",
    )
