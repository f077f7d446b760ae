"""Harness of `exchange`: the reference follows the rounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ptxcheck.repair.harness import Array, Case, LaunchPlan

kernel = "exchange"
source = Path(__file__).parent / "exchange.cu"
cases = [{"rounds": 5}, {"rounds": 0}, {"rounds": 1}, {"rounds": 50}, {"rounds": 3}]
_BLOCKS = 8


def plan(case: Case) -> LaunchPlan:
    """Return the launch of one case."""
    values = np.random.default_rng(1).integers(0, 1000, (_BLOCKS, 128)).astype(np.uint32)
    arguments = {"input": values, "output": np.zeros_like(values), "rounds": np.int32(case["rounds"])}
    return LaunchPlan((_BLOCKS, 1, 1), (128, 1, 1), (2, 1, 1), 0, arguments)


def verdict(case: Case, before: Mapping[str, Array], after: Mapping[str, Array]) -> str:
    """Swap tiles between the CTAs of each pair, reversed, once a round."""
    expected = before["input"].reshape(_BLOCKS // 2, 2, 128)
    for number in range(case["rounds"]):
        expected = expected[:, ::-1, ::-1] + np.uint32(number)
    wrong = int((after["output"] != expected.reshape(_BLOCKS, 128)).sum())
    return f"{wrong} of {expected.size} elements differ" if wrong else ""
