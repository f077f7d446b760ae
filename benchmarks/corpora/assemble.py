"""Time `ptxas -O3` on every file of the cache, one at a time: wall and processor time, memory, acceptance."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from .process import run
from .store import Cache, Row, read_json, update_json
from .toolchain import Toolchain, toolchains

TIMEOUT = 300.0
KEEP_FREE_MB = 4 * 1024


def measure(cache: Cache, groups: frozenset[str]) -> Iterator[str]:
    """Measure what was not measured since it was built, small files first; one line of text for each."""
    rows = [row for row in cache.rows().values() if row.built and (not groups or row.group in groups)]
    done = read_json(cache.ptxas_file).get("rows", {})
    for row in sorted(rows, key=lambda row: row.bytes):
        path = cache.ptx(row.group, row.name)
        known = done.get(row.key)
        if path.is_file() and not (known and known["bytes"] == path.stat().st_size):
            yield _measure_one(cache, row, path)


def _measure_one(cache: Cache, row: Row, path: Path) -> str:
    tool = _tool(cache, path)
    output = path.with_suffix(f".{os.getpid()}.cubin.tmp")
    load = os.getloadavg()[0]
    ran = run(
        [tool.ptxas, "-O3", f"-arch={row.target}", path, "-o", output],
        timeout=TIMEOUT,
        keep_free_mb=KEEP_FREE_MB,
    )
    output.unlink(missing_ok=True)
    entry = {
        "group": row.group,
        "name": row.name,
        "target": row.target,
        "bytes": path.stat().st_size,
        "ptxas": tool.label.replace("nvcc", "ptxas"),
        "accepted": ran.ok,
        "wall_s": ran.seconds,
        "cpu_s": ran.cpu_seconds,
        "peak_mb": ran.peak_mb,
        "load": round(load, 2),
        "message": "" if ran.ok else cache.relative(ran.message),
    }
    update_json(cache.ptxas_file, {row.key: entry})
    state = "accepted" if ran.ok else ran.stopped or "rejected"
    return f"{row.key:58} {row.target:8} {ran.seconds:7.2f} s {ran.peak_mb:6d} MB  {state}"


def _tool(cache: Cache, path: Path) -> Toolchain:
    """The oldest assembler that knows the file's PTX version."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        head = "".join(line for _, line in zip(range(200), lines, strict=False))
    found = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", head, re.M)
    isa = int(found[1]) * 10 + int(found[2]) if found else 0
    available = toolchains(cache)
    return next((tool for tool in available if tool.isa >= isa), available[-1])
