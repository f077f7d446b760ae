"""What a comparison of integers says besides its sides: what was done to them before, and that it is one of 64 bits.

Property: `changes_of` and `is_of_64_bits` give what `marked` was told, also of what is left where numbers are put in.

Argument: the marks are the last part of the atom of a comparison, and who makes one from another hands that part on.

Not covered: comparisons that are no difference with zero (`Kind.BELOW`, `Kind.COMPARE`): these know their width.
"""

from __future__ import annotations

from enum import IntFlag

from .kinds import Kind
from .symbol import Atom, Form, Value, atom

_PLAIN = 4
"""Parts of a comparison without marks: kind, relation, terms and constant."""


class Change(IntFlag):
    """What is done to a symbol on its side of a comparison."""

    NONE = 0
    LOWERED = 1
    """Something is taken away from it: exact where it is not negative."""
    RAISED = 2
    """Something is added to it."""


_WIDE = 4


def marked(truth: Value, changes: Change, *, is_of_64_bits: bool = False) -> Value:
    """Return a comparison with its marks; any other value as it is."""
    marks = int(changes) | (_WIDE if is_of_64_bits else 0)
    return with_marks(truth, (marks,) if marks else ())


def with_marks(truth: Value, marks: tuple[object, ...]) -> Value:
    """Return a comparison with the marks of another one; any other value as it is."""
    if not marks or not isinstance(truth, Form) or len(truth.terms) != 1:
        return truth
    name = truth.terms[0][0]
    return atom(*name, *marks) if name.kind is Kind.CMP and len(name) == _PLAIN else truth


def marks_of(parts: tuple[object, ...]) -> tuple[object, ...]:
    """Return the marks of a comparison that is given by its parts."""
    return parts[_PLAIN:]


def changes_of(comparison: Atom) -> Change:
    """Return what is done to symbols in a comparison before they are compared."""
    return Change(_number(comparison.inner) & ~_WIDE)


def is_of_64_bits(parts: tuple[object, ...]) -> bool:
    """Tell whether a comparison that is given by its parts is one of 64 bits that 32 would not do for."""
    return bool(_number(parts) & _WIDE)


def _number(parts: tuple[object, ...]) -> int:
    return sum(int(str(each)) for each in marks_of(parts)) if parts[0] == Kind.CMP else 0


__all__ = ["Change", "changes_of", "is_of_64_bits", "marked", "marks_of", "with_marks"]
