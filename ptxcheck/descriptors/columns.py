"""Legality of whole tables of tensor maps at once: one NumPy column for each argument of the encode call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ptxcheck.descriptors.constraints import (
    MAX_RANK,
    Constraint,
    Each,
    Layer,
    Platform,
    applicable,
    load,
)
from ptxcheck.descriptors.expression import (
    BoolColumn,
    IntColumn,
    Scope,
    value,
)
from ptxcheck.descriptors.fields import CONSTANTS, Kind

ColumnTable = Mapping[str, npt.NDArray[Any]]
"""Columns by name: dtype, rank, addr_off, map_off, dim0…, stride0…, box0…, es0…, and so on."""

PLAIN = {
    "data_type": "dtype",
    "rank": "rank",
    "address": "addr_off",
    "interleave": "interleave",
    "swizzle": "swizzle",
    "l2_promotion": "l2",
    "oob_fill": "oob",
}
IM2COL_PLAIN = {"channels": "channels", "pixels": "pixels"}


def encodes(
    kind: Kind | str,
    table: ColumnTable,
    *,
    capability: tuple[int, int] = (9, 0),
    driver: int = 13000,
) -> BoolColumn:
    """Return, for each row of `table`, whether the driver encodes it.

    `addr_off` is the global address, or its offset from any multiple of 32 bytes.
    """
    kind = Kind(kind)
    scope = columns_scope(kind, table)
    answer = np.ones(len(scope.fields["rank"]), dtype=np.bool_)
    for constraint in applicable(kind, Platform(capability, driver), Layer.DRIVER):
        answer &= holds(constraint, scope)
    return answer


def holds(constraint: Constraint, scope: Scope) -> BoolColumn:
    """Return, for each row, whether `constraint` holds at each of its indices."""
    rank = scope.fields["rank"]
    if constraint.each is Each.ONCE:
        return np.broadcast_to(np.asarray(value(constraint.expression, scope), dtype=np.bool_), rank.shape)
    answer = np.ones(len(rank), dtype=np.bool_)
    for i in range(MAX_RANK - constraint.each.below_rank):
        outside = rank - constraint.each.below_rank <= i
        answer &= outside | value(constraint.expression, scope, i)
    return answer


def columns_scope(kind: Kind, table: ColumnTable) -> Scope:
    """Return the meaning of the constraint language's names over the columns of `table`."""
    data = load()
    fields: dict[str, Any] = dict(CONSTANTS)
    plain = PLAIN if kind is Kind.TILED else PLAIN | IM2COL_PLAIN
    fields.update({name: _column(table, column) for name, column in plain.items()})
    fields["map_address"] = _column(table, "map_off") if "map_off" in table else np.zeros_like(fields["rank"])
    fields["dim"] = _columns(table, "dim", MAX_RANK)
    fields["stride"] = _columns(table, "stride", MAX_RANK - 1)
    fields["element_stride"] = _columns(table, "es", MAX_RANK)
    if kind is Kind.TILED:
        fields["box"] = _columns(table, "box", MAX_RANK)
    elif kind is Kind.IM2COL:
        fields["lower"] = _columns(table, "lower", MAX_RANK - 2)
        fields["upper"] = _columns(table, "upper", MAX_RANK - 2)
    else:
        zero = np.zeros_like(fields["rank"])
        fields["lower"] = [_column(table, "lower"), zero, zero]
        fields["upper"] = [_column(table, "upper"), zero, zero]
        fields["mode"] = _column(table, "mode")
    return Scope(fields, data.lets, data.tables)


def _column(table: ColumnTable, name: str) -> IntColumn:
    return np.asarray(table[name]).astype(np.int64)


def _columns(table: ColumnTable, prefix: str, count: int) -> list[IntColumn]:
    return [_column(table, f"{prefix}{i}") for i in range(count)]
