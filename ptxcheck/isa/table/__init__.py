"""Rows of the table, one module a chapter of the PTX manual."""

from __future__ import annotations

from ..row import Row
from . import control_flow, mbarrier

ROWS: tuple[Row, ...] = (
    *control_flow.ROWS,
    *mbarrier.ROWS,
)
