from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.repair.timing import compare


def test_a_faster_kernel_is_faster_beyond_the_noise() -> None:
    noise = np.random.default_rng(1).normal(0, 0.01, (2, 60))
    result = compare(list(1.0 + noise[0]), list(0.9 + noise[1]))
    assert result.second_is_faster
    assert result.ratio == pytest.approx(0.9, abs=0.01)
    assert result.first_median > result.second_median


def test_equal_kernels_are_not() -> None:
    noise = np.random.default_rng(2).normal(0, 0.05, (2, 60))
    result = compare(list(1.0 + noise[0]), list(1.0 + noise[1]))
    assert result.low < 1.0 < result.high
    assert not result.second_is_faster
    assert result.rounds == 60


def test_unpaired_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        compare([1.0], [])
