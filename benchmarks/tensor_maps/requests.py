"""Solve random requests and ask the driver to encode every answer. Needs a GPU, unless `--no-driver`.

python -m benchmarks.tensor_maps.requests --count 10000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter

import numpy as np

from ptxcheck.descriptors.constraints import Platform
from ptxcheck.descriptors.fields import Swizzle
from ptxcheck.descriptors.request import (
    Impossible,
    Request,
    Solution,
    Use,
)
from ptxcheck.descriptors.solve import solve
from ptxcheck.descriptors.tensor_map import TiledMap

TILES = (1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 100, 128, 192, 256, 257, 320, 384, 512, 1024)


def random_request(rng: random.Random) -> Request:
    """Return a request with mostly sensible figures."""
    rank = rng.choice((1, 2, 2, 2, 3, 3, 4, 5, 5, 6) if rng.random() < 0.3 else (1, 2, 2, 2, 3, 4, 5))
    shape = tuple(rng.choice((rng.randrange(1, 5000), 1 << rng.randrange(0, 14))) for _ in range(rank))
    tile = tuple(rng.choice(TILES if i < 2 else (1, 1, 2, 3, 4, 8)) for i in range(rank))
    data_type = rng.randrange(13)
    strides = None
    if rng.random() < 0.3:
        length, given = shape[0] * 8, []
        for extent in shape[1:]:
            given.append(length + rng.choice((0, 2, 8, 16, 30, 32)))
            length = given[-1] * extent
        strides = tuple(given)
    return Request(
        data_type=data_type,
        shape=shape,
        tile=tile,
        strides=strides,
        may_pad=rng.random() < 0.5,
        swizzle=rng.choice((None, None, None, *list(Swizzle)[:4])),
        use=rng.choice((Use.COPY, Use.COPY, Use.WGMMA)),
        platform=Platform(),
    )


def columns_of(maps: list[TiledMap]) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Return the maps as the table that the driver module and `encodes` read."""
    rows: dict[str, list[int]] = {}
    for tensor_map in maps:
        fields = {"dtype": tensor_map.data_type, "rank": tensor_map.rank, "addr_off": 0, "map_off": 0}
        fields |= {"interleave": tensor_map.interleave, "swizzle": tensor_map.swizzle, "l2": 0, "oob": 0}
        for i in range(5):
            inside = i < tensor_map.rank
            fields[f"dim{i}"] = tensor_map.global_dim[i] if inside else 1
            fields[f"box{i}"] = tensor_map.box_dim[i] if inside else 1
            fields[f"es{i}"] = tensor_map.steps[i] if inside else 1
        for i in range(4):
            fields[f"stride{i}"] = tensor_map.global_strides[i] if i < tensor_map.rank - 1 else 0
        for name, number in fields.items():
            rows.setdefault(name, []).append(number)
    return {name: np.array(column, dtype=np.int64) for name, column in rows.items()}


def main() -> int:
    """Solve, time, ask and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-driver", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    seconds: list[float] = []
    solved: list[Solution] = []
    clashes: Counter[tuple[str, ...]] = Counter()
    for _ in range(arguments.count):
        request = random_request(rng)
        start = time.perf_counter()
        answer = solve(request)
        seconds.append(time.perf_counter() - start)
        if isinstance(answer, Impossible):
            clashes[tuple(c.id for c in answer.clash)] += 1
        else:
            solved.append(answer)
    print(f"{arguments.count} requests: {len(solved)} solved, {clashes.total()} impossible")
    ordered = sorted(seconds)
    print(
        f"median {statistics.median(seconds) * 1e3:.2f} ms,"
        f" 99th percentile {ordered[len(ordered) * 99 // 100] * 1e3:.2f} ms,"
        f" longest {ordered[-1] * 1e3:.2f} ms"
    )
    for clash, count in clashes.most_common(8):
        print(f"  {count} × {', '.join(clash)}")
    if arguments.no_driver:
        return 0
    from benchmarks.tensor_maps.cuda_driver import Driver

    driver = Driver()
    refused = int(np.count_nonzero(driver.ask("tiled", columns_of([answer.tensor_map for answer in solved]))))
    print(f"{driver.device}, driver {driver.version}: {len(solved)} answers asked, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
