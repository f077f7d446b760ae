"""Where `tcgen05.mma` has D in tensor memory (PTX ISA §9.7.17.10.5, layouts A to G), as data.

Not here: `.kind::ti16`, and what `disable-output-lane` leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .instruction import Shape

LANES = 128
COLUMNS = 512


@dataclass(frozen=True, slots=True)
class Accumulator:
    """The part of D that one CTA has: how many columns, in all lanes or in 16 of each 32."""

    columns: int
    all_lanes: bool


@dataclass(frozen=True, slots=True)
class _Layout:
    all_lanes: bool
    columns_share: int
    """N divided by this is the number of columns."""


_WHOLE, _HALF_LANES, _HALF, _QUARTER = (
    _Layout(True, 1), _Layout(False, 1), _Layout(True, 2), _Layout(True, 4),
)  # fmt: skip
_ONE_CTA: Mapping[int, _Layout] = {128: _WHOLE, 64: _HALF_LANES}
_PAIR: Mapping[int, _Layout] = {256: _WHOLE, 128: _HALF}
_SPARSE_PAIR: Mapping[int, _Layout] = {256: _WHOLE, 128: _HALF_LANES}
_STATIONARY: Mapping[int, _Layout] = {128: _WHOLE, 64: _HALF, 32: _QUARTER}
"""By M. Each row of a one-CTA product of 128 rows has a lane; 16 lanes of each quarter have the 64 rows of others."""


def accumulator(shape: Shape, m: int, n: int) -> Accumulator | None:
    """Return where D is for M and N, None for an M that the shape does not have. 16-bit types take a column each."""
    if shape.weight_stationary:
        layouts = _STATIONARY
    elif shape.pair:
        layouts = _SPARSE_PAIR if shape.sparse else _PAIR
    else:
        layouts = _ONE_CTA
    layout = layouts.get(m)
    return None if layout is None else Accumulator(n // layout.columns_share, layout.all_lanes)
