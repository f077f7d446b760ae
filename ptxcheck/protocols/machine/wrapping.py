"""Where numbers may wrap around, which linear forms do not know: runs with such numbers are not made.

A number of 64 bits that an instruction cuts to 32 is taken to fit, and a multiple to be one of an integer.
"""

from __future__ import annotations

from collections.abc import Iterable

from .resolve import leaves
from .symbol import Condition, Form, Value

WORD = 32
CUT = "cut"
"""Kind of the assumption that a number fits into the bits that an instruction leaves of it."""
CUT_NUMBERS = "a number of 64 bits that is cut here was run only where 32 hold it"
MULTIPLES = "a multiple of a symbol that decides here was run only where it does not wrap around"


def may_be_cut(value: Value, width: int) -> bool:
    """Tell whether a symbol may lose bits that it was read with in a register of some width."""
    return (
        width <= WORD
        and isinstance(value, Form)
        and any(map(_is_wide, (leaf.inner for leaf in leaves(value))))
    )


def _is_wide(inner: tuple[object, ...]) -> bool:
    match inner:
        case ("param", _, _, 8) | ("load" | "shared" | "strong" | "own", _, 64, *_):
            return True
        case _:
            return False


def is_multiple(condition: Condition) -> bool:
    """Tell whether a condition is on a multiple of one symbol, whose high bits may be lost."""
    return len(condition.form.terms) == 1 and abs(condition.form.terms[0][1]) != 1


def may_wrap(path: Iterable[tuple[Condition, bool]]) -> bool:
    """Tell whether a decision is on a sum of symbols, or on a multiple, whose number may have lost its high bits."""
    return any(len(condition.form.terms) != 1 or is_multiple(condition) for condition, _ in path)
