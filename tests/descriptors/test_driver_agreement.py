"""The model answers every recorded encode as the driver did, as columns and one map at a time."""

from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.descriptors import Kind, encodes, is_encoded
from tests.descriptors.maps import driver_rows, sampled_rows, tensor_map_of

ROWS = {Kind.TILED: 60_000, Kind.IM2COL: 30_000, Kind.IM2COL_WIDE: 20_000}
SCALAR_ROWS = 400


@pytest.mark.parametrize("kind", Kind)
def test_every_answer_of_the_driver(kind: Kind) -> None:
    table = driver_rows(kind)
    assert len(table["result"]) == ROWS[kind]
    assert np.array_equal(encodes(kind, table), table["result"] == 0)


@pytest.mark.parametrize("kind", Kind)
def test_every_sampler(kind: Kind) -> None:
    tables = sampled_rows(kind)
    assert set(tables) == {"uniform", "boundary", "sizes", "integers"}
    for table in tables.values():
        assert np.array_equal(encodes(kind.value, table), table["result"] == 0)


@pytest.mark.parametrize("kind", Kind)
def test_one_map_at_a_time(kind: Kind) -> None:
    for table in (driver_rows(kind), *sampled_rows(kind).values()):
        usable = np.flatnonzero(table["rank"] <= 5)[:SCALAR_ROWS]
        for row in usable:
            assert is_encoded(tensor_map_of(kind, table, row)) == (table["result"][row] == 0)
