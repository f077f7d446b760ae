"""Compare the solver's answers to random requests with an exhaustive search of a small grid.

Each "impossible" is confirmed where the search finds nothing, and padding, copies and swizzle are compared with the
best that it finds. No GPU is needed.

python -m benchmarks.tensor_maps.confirm --count 10000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter

from benchmarks.tensor_maps.exhaustive import best, independent, size
from benchmarks.tensor_maps.requests import random_request
from ptxcheck.descriptors import Impossible, solve

SPANS = {0: 16, 1: 32, 2: 64, 3: 128}


def main() -> int:
    """Compare and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    assert independent()
    rng = random.Random(arguments.seed)
    seconds: list[float] = []
    tally: Counter[str] = Counter()
    for _ in range(arguments.count):
        request = random_request(rng)
        start = time.process_time()
        answer = solve(request)
        seconds.append(time.process_time() - start)
        found = best(request)
        tally["encodes tried"] += size(request)
        if isinstance(answer, Impossible):
            outcome = "impossible, confirmed" if found is None else "impossible, but the search found one"
        else:
            span = SPANS[answer.tensor_map.swizzle]
            own = (answer.global_padding + answer.shared_padding, answer.copies, -span)
            outcome = "solved, as cheap as the best found"
            if found is None or found < own:
                outcome = (
                    "solved, but the search found none"
                    if found is None
                    else "solved, but a cheaper one was found"
                )
            elif found > own:
                outcome = "solved, cheaper than the grid"
        tally[outcome] += 1
        if "but" in outcome:
            print(outcome, request, found)
    for outcome, count in sorted(tally.items()):
        print(f"{outcome}: {count}")
    longest = max(seconds) * 1e3
    print(
        f"processor time to solve: median {statistics.median(seconds) * 1e3:.2f} ms, longest {longest:.1f} ms"
    )
    return 1 if any("but" in outcome for outcome in tally) else 0


if __name__ == "__main__":
    sys.exit(main())
