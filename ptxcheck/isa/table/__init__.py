"""Rows of the table, one module a chapter of the PTX manual."""

from __future__ import annotations

from ..row import Row
from . import async_copy, control_flow, mbarrier, synchronization, tensormap

ROWS: tuple[Row, ...] = (
    *control_flow.ROWS,
    *async_copy.ROWS,
    *mbarrier.ROWS,
    *synchronization.ROWS,
    *tensormap.ROWS,
)
