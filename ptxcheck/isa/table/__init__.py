"""Rows of the table, one module a chapter of the PTX manual."""

from __future__ import annotations

from ..row import Row
from . import (
    async_copy,
    atomics,
    comparison,
    control_flow,
    conversion,
    data_movement,
    fabric,
    floating,
    half,
    integer,
    logic,
    matrix,
    mbarrier,
    misc,
    stack,
    surface,
    synchronization,
    tcgen05,
    tensormap,
    texture,
    video,
    wgmma,
)

ROWS: tuple[Row, ...] = (
    *async_copy.ROWS,
    *atomics.ROWS,
    *comparison.ROWS,
    *control_flow.ROWS,
    *conversion.ROWS,
    *data_movement.ROWS,
    *fabric.ROWS,
    *floating.ROWS,
    *half.ROWS,
    *integer.ROWS,
    *logic.ROWS,
    *matrix.ROWS,
    *mbarrier.ROWS,
    *misc.ROWS,
    *stack.ROWS,
    *synchronization.ROWS,
    *tcgen05.ROWS,
    *tensormap.ROWS,
    *wgmma.ROWS,
    *texture.ROWS,
    *surface.ROWS,
    *video.ROWS,
)
