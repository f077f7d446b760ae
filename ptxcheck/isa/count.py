"""How many elements a vector operand has, from the count notation of the table."""

from __future__ import annotations

import re
from collections.abc import Mapping

_COUNT = re.compile(r"(?P<base>\w+)(?:\.(?P<letter>[mnk]))?(?:(?P<operator>[-/*])(?P<number>\d+))?\Z")


def vector_length(count: str, slots: Mapping[str, str]) -> int | None:
    """Return the elements that a count such as `4`, `vec` or `shape.n/4` asks for.

    A quotient is rounded up. A scalar (no count, or a slot that is not filled) has 1. None means any number:
    the count is `any`, or the slot's value holds no number. Raises ValueError when the notation is wrong.
    """
    if not count:
        return 1
    if count == "any":
        return None
    match = _COUNT.match(count)
    if match is None:
        raise ValueError(f"cannot read the count {count!r}")
    value = _number(match["base"], match["letter"], slots)
    if value is None or match["operator"] is None:
        return value
    number = int(match["number"])
    if match["operator"] == "*":
        return value * number
    return value - number if match["operator"] == "-" else -(-value // number)


def _number(base: str, letter: str | None, slots: Mapping[str, str]) -> int | None:
    if base.isdigit():
        return int(base)
    text = slots.get(base)
    if text is None:
        return 1
    found = re.search(rf"{letter or ''}(\d+)", text)
    return int(found[1]) if found else None


__all__ = ["vector_length"]
