"""Comparing times that were measured in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 2000
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Comparison:
    """Milliseconds of two kernels and the ratio second : first with its 95 % bootstrap interval."""

    first_median: float
    second_median: float
    first_spread: float
    """Interquartile range, milliseconds."""
    second_spread: float
    ratio: float
    low: float
    high: float
    rounds: int

    @property
    def second_is_faster(self) -> bool:
        """Tell whether the second is faster beyond the noise."""
        return self.high < 1.0


def compare(first: Sequence[float], second: Sequence[float], seed: int = 1) -> Comparison:
    """Compare times of paired rounds. Raises ValueError when they are not paired or empty."""
    if len(first) != len(second) or not first:
        raise ValueError(f"{len(first)} and {len(second)} rounds are no pairs")
    a, b = np.asarray(first, float), np.asarray(second, float)
    picks = np.random.default_rng(seed).integers(0, len(a), (_RESAMPLES, len(a)))
    ratios = np.median(b[picks], axis=1) / np.median(a[picks], axis=1)
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    first_median, second_median = float(np.median(a)), float(np.median(b))
    return Comparison(
        first_median, second_median, _spread(a), _spread(b), second_median / first_median, float(low),
        float(high), len(a),
    )  # fmt: skip


def _spread(times: np.typing.NDArray[np.float64]) -> float:
    low, high = np.quantile(times, [0.25, 0.75])
    return float(high - low)
