"""The instruction table of PTX, and look-ups in it."""

from .lookup import (
    forms_of,
    requirement_problems,
    resolve,
    resolve_shape,
    rows_by_mnemonic,
    shape_of,
)
from .row import Row

__all__ = [
    "Row",
    "forms_of",
    "requirement_problems",
    "resolve",
    "resolve_shape",
    "rows_by_mnemonic",
    "shape_of",
]
