"""Compare the model with the CUDA driver on fresh random tensor maps. Needs a GPU.

    python -m benchmarks.tensor_maps.campaign --rows 300000 --seed 1 --out DIR

For each sampler and kind, `--rows` maps are encoded by the driver and judged by
`ptxcheck.descriptors.encodes`. DIR gets `campaign.json` (counts), `disagreements.npz` (every row where
they differ) and `sample.npz` (a few thousand rows with the driver's answer, for tests on machines without
a GPU). The exit code is 1 if a row differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tensor_maps.cuda_driver import Driver
from benchmarks.tensor_maps.samplers import SAMPLERS, Table
from ptxcheck.descriptors.columns import encodes

KINDS = ("tiled", "im2col", "im2col_wide")
KEPT = 1500


def rows_of(table: Table, chosen: Any) -> dict[str, Any]:
    """Return the chosen rows of every column."""
    return {name: column[chosen] for name, column in table.items()}


def compare(
    driver: Driver, sampler: str, kind: str, seed: int, n: int
) -> tuple[dict[str, Any], Table, Table]:
    """Return the counts of one campaign, the rows that differ and a sample of all rows."""
    rng = np.random.default_rng([seed, list(SAMPLERS).index(sampler), KINDS.index(kind)])
    table = SAMPLERS[sampler](rng, n, kind)
    start = time.perf_counter()
    answer = driver.ask(kind, table)
    asked = time.perf_counter()
    model = encodes(kind, table)
    judged = time.perf_counter()
    differ = model != (answer == 0)
    full = {**table, "result": answer}
    counts = {
        "sampler": sampler,
        "kind": kind,
        "rows": n,
        "encoded": int((answer == 0).sum()),
        "differ": int(differ.sum()),
        "driver_seconds": round(asked - start, 2),
        "model_seconds": round(judged - asked, 2),
        "results": {str(k): int(v) for k, v in zip(*np.unique(answer, return_counts=True), strict=True)},
    }
    return counts, rows_of(full, np.flatnonzero(differ)[:5000]), rows_of(full, slice(0, KEPT))


def main() -> int:
    """Run the campaigns and write their files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    driver = Driver()
    report: list[dict[str, Any]] = []
    differing: dict[str, Any] = {}
    sample: dict[str, Any] = {}
    for sampler in SAMPLERS:
        for kind in KINDS:
            counts, wrong, some = compare(driver, sampler, kind, arguments.seed, arguments.rows)
            print(json.dumps(counts), flush=True)
            report.append(counts)
            differing |= {f"{sampler}/{kind}/{name}": column for name, column in wrong.items()}
            sample |= {f"{sampler}/{kind}/{name}": column for name, column in some.items()}
    rows, differ = sum(c["rows"] for c in report), sum(c["differ"] for c in report)
    summary = {
        "device": driver.device,
        "driver": driver.version,
        "rows": rows,
        "differ": differ,
        "runs": report,
    }
    (arguments.out / "campaign.json").write_text(json.dumps(summary, indent=1))
    np.savez_compressed(arguments.out / "disagreements.npz", **differing)
    np.savez_compressed(arguments.out / "sample.npz", **sample)
    print(f"{driver.device}, driver {driver.version}: {rows} rows, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
