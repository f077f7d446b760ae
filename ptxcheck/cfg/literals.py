"""Values of literal operands."""

from __future__ import annotations

from ..ir import FloatImmediate, Immediate, Operand
from .values import Value, exactly, top


def literal_value(operand: Operand | None, width: int = 64) -> Value:
    """Return the value of a literal as a number of `width` bits; anything for other operands."""
    match operand:
        case Immediate(value=number):
            return exactly(number, width)
        case FloatImmediate(bits=pattern, width=size):
            return exactly(pattern, size)
        case _:
            return top(width)
