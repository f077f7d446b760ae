"""How many columns of tensor memory the operands of `tcgen05.mma` beside D have, as far as that is certain.

Sources: PTX ISA §9.7.17.10.3 (A: 32 bytes of each row along K), 9.7.17.10.7 (scale factors: those of 32 rows of A, or
of 32 columns of B, share a column, four of each row), 9.7.17.10.6 (metadata: two bits for each element that is kept).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .instruction import Shape

BESIDE_D = {
    "a_taddr": "A",
    "scale_a": "the scale factors of A",
    "scale_b": "the scale factors of B",
    "metadata": "the metadata",
}
"""Operands of multiplications that are or may be in tensor memory, and what messages call them."""
_K_COLUMNS, _K_96_COLUMNS = 8, 12
"""Columns of 32 bytes along K, and of the 48 of 96 elements of four bits."""
_SCALED_ROWS = 32
"""Rows of A or columns of B whose scale factors share a column."""
_MOST_METADATA = 4
"""Two bits for each of 64 elements, where each row has its lane; twice that where two rows share one."""
_MOST_N = 256
_ALL_ROWS = 128
_PAIR_ROWS = 256
"""M of a pair whose CTAs have all rows each."""


class ColumnCount(NamedTuple):
    """Columns that an operand surely has, and that it has at most."""

    least: int
    most: int


def operand_columns(name: str, shape: Shape, fields: Mapping[str, int]) -> ColumnCount:
    """Return the columns of `a_taddr`, `scale_a`, `scale_b` or `metadata`; raise KeyError for any other operand."""
    has_96 = shape.kind.is_four_bit and fields.get("k_96", 1) != 0
    match name:
        case "a_taddr":
            return ColumnCount(_K_COLUMNS, _K_96_COLUMNS if has_96 else _K_COLUMNS)
        case "scale_a":
            least = _ALL_ROWS if not shape.pair or fields.get("m") == _PAIR_ROWS else 1
            return _of_scaled(least, _ALL_ROWS, has_96)
        case "scale_b":
            return _of_scaled(fields.get("n", 1), fields.get("n", _MOST_N), has_96)
        case "metadata":
            return ColumnCount(1, _MOST_METADATA)
        case _:
            raise KeyError(name)


def _of_scaled(least: int, most: int, has_96: bool) -> ColumnCount:
    """Return the columns for a number of rows; six scale factors of each row take twice as many as four."""
    return ColumnCount(-(-least // _SCALED_ROWS), -(-most // _SCALED_ROWS) * (2 if has_96 else 1))


__all__ = ["BESIDE_D", "ColumnCount", "operand_columns"]
