"""What is left of an exclusive or of several values: each that is in it twice falls out.

Property: the exclusive or of what `joined` gives is that of two values.

Argument: `x ^ x` is 0, and `^` is associative and commutative. A phase that each round of a loop may flip is one of a
few values then, and not a longer one in each round.

Not covered: values of more than `_MOST` parts, which stay nested.
"""

from __future__ import annotations

from collections.abc import Iterator

from .kinds import Kind
from .symbol import Atom

_MOST = 16


def joined(one: object, other: object) -> tuple[object, ...]:
    """Return the parts of the exclusive or of two arguments of atoms, at least one: atoms in order, then a number.

    These two themselves where neither is an exclusive or, or there are too many.
    """
    if not any(isinstance(each, Atom) and each.inner_kind is Kind.XOR for each in (one, other)):
        return one, other
    constant, left = 0, dict[Atom, None]()
    for part in (*parts_of(one), *parts_of(other)):
        if isinstance(part, int):
            constant ^= part
        elif not isinstance(part, Atom):
            return one, other
        elif part in left:
            del left[part]
        else:
            left[part] = None
    if len(left) > _MOST:
        return one, other
    parts = sorted(left, key=lambda atom: atom.digest)
    return (*parts, constant) if constant or not parts else tuple(parts)


def parts_of(value: object) -> Iterator[object]:
    """Yield what an argument of an atom is the exclusive or of."""
    if isinstance(value, Atom) and value.inner_kind is Kind.XOR:
        for each in value.inner[1:]:
            yield from parts_of(each)
    else:
        yield value
