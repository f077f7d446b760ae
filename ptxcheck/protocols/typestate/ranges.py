"""Numbers that lie outside what an operand may be, and how to say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import Value

if TYPE_CHECKING:
    from ...view import KernelView

_MANY = 1 << 31


def outside(view: KernelView, point: int, operand: str, low: int, high: int) -> str | None:
    """Return the text of an operand when none of its possible numbers is from `low` to `high`."""
    given = view.body.instructions[point].get(operand)
    if given is None:
        return None
    value = view.facts.value(point, given)
    return said(value) if value.high < low or value.low > high else None


def said(value: Value) -> str:
    """Return "7", "-1 (4294967295)", or "8 or more"."""
    if value.constant is None:
        return f"{value.low} or more"
    if value.width >= 32 and value.constant >= _MANY:
        return f"{value.signed} ({value.constant & 0xFFFFFFFF})"
    return str(value.constant)


__all__ = ["outside", "said"]
