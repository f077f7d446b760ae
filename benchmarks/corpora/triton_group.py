"""Group `triton`: this project's own Triton and Gluon kernels, compiled with no GPU, one process each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .compiled import KEEP_FREE_MB, REPOSITORY, record
from .environments import ensure
from .process import run
from .store import BESIDE, Cache, Row
from .toolchain import main_toolchain

GROUP = "triton"
MODULES = ("triton_kernels", "gluon_kernels")
COMPILE_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Unit:
    """One case for one target, as the worker lists it."""

    module: str
    case: str
    capability: int
    target: str
    name: str
    digest: str


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Compile every case for each of its targets, or those named in `wanted`."""
    python = ensure(cache, "triton")
    version = min(main_toolchain(cache).isa, 90)
    listed: set[str] = set()
    for module in MODULES:
        listing = _worker(cache, python, "list", module)
        for line in listing.splitlines():
            unit = Unit(module, *json.loads(line))
            listed.add(unit.name)
            if not wanted or {unit.case, unit.name} & wanted:
                yield _kept(cache, unit) or _build_one(cache, python, unit, version)
    cache.keep_only(GROUP, listed)


def _kept(cache: Cache, unit: Unit) -> Row | None:
    """Return the row of a unit that was built with the compiler's text beside it."""
    path = cache.ptx(GROUP, unit.name)
    return (
        cache.built(GROUP, unit.name, unit.digest)
        if any(path.with_suffix(k).is_file() for k in BESIDE)
        else None
    )


def _worker(cache: Cache, python: Path, *arguments: str) -> str:
    ran = run([python, "-m", f"{__package__}.triton_worker", *arguments], timeout=60, cwd=REPOSITORY)
    if not ran.ok:
        raise RuntimeError(f"cannot list the cases:\n{ran.message}")
    return ran.output


def _build_one(cache: Cache, python: Path, unit: Unit, version: int) -> Row:
    output = cache.ptx(GROUP, unit.name)
    draft = output.with_name(f"{output.stem}-{os.getpid()}.ptx")
    worker = [str(python), "-m", f"{__package__}.triton_worker", "build", unit.module, unit.case]
    ptxas = str(main_toolchain(cache).ptxas)
    environment = {
        "TRITON_CACHE_DIR": str(cache.root / "triton-cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
        "TRITON_PTXAS_PATH": ptxas,
        "TRITON_PTXAS_BLACKWELL_PATH": ptxas,
    }
    ran = run(
        [*worker, str(unit.capability), draft, str(version)],
        timeout=COMPILE_TIMEOUT,
        keep_free_mb=KEEP_FREE_MB,
        cwd=REPOSITORY,
        env=environment,
    )
    built = ran.ok and draft.is_file()
    for kind in (*BESIDE, ".ptx"):
        made = draft.with_suffix(kind)
        if built and made.is_file():
            made.replace(output.with_suffix(kind))
        made.unlink(missing_ok=True)
    return record(
        cache,
        ran,
        group=GROUP,
        name=unit.name,
        target=unit.target,
        digest=unit.digest,
        built=built,
        how=f"triton.compile of {unit.module}.{unit.case} for {unit.capability}, PTX version {version}",
        tool="triton",
    )
