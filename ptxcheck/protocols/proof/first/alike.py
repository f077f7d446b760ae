"""Parameters that a kernel takes for one number, as far as a run shows: the length of K, passed once for each operand.

Where a number of the host is needed as such, as for the stage that a warp group starts in, a run takes one. Roles that
hand over to each other may have decided by another parameter before, of which they compute the same. Nothing in the
text says that the host passes one number for both, nor that it does not; so a run takes one for both, and is of that
number alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ...symex.values.substitution import leaves
from ...symex.values.symbol import Atom, Condition, Form

_Shape: TypeAlias = object
_DEEPEST = 8
"""What is nested deeper is compared with nothing: it has parts that are."""


def alike(path: Iterable[tuple[Condition, bool]], value: Form, name: Atom) -> Iterator[Atom]:
    """Yield other parameters of which decisions ask for something that a value computes of one parameter."""
    if name[0] != "param":
        return
    computed = set(_shapes(value, name))
    found: set[Atom] = set()
    for condition, _ in path if computed else ():
        for part, _ in condition.form.terms:
            other = _only_leaf(part) if part.nesting <= _DEEPEST else None
            if (
                other is not None
                and other not in found
                and (other[0], other[3:]) == ("param", name[3:])
                and other not in (name, part)
                and _shape(part, other) in computed
            ):
                found.add(other)
                yield other


def _only_leaf(part: Atom) -> Atom | None:
    found = list(leaves(Form(((part, 1),))))
    return found[0] if len(found) == 1 else None


def _shapes(value: Form, name: Atom) -> Iterator[_Shape]:
    """Yield what a value computes of one symbol alone, but for the symbol itself."""
    waiting: list[object] = [part for part, _ in value.terms]
    seen: set[Atom] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Atom):
            if part == name or part in seen or not part.marks & name.mark:
                continue
            seen.add(part)
            if part.nesting <= _DEEPEST and _only_leaf(part) == name:
                yield _shape(part, name)
            waiting.extend(part.inner)
        elif isinstance(part, tuple):
            waiting.extend(part)


def _shape(part: object, name: Atom) -> _Shape:
    """Return an atom with nothing in place of one symbol; the order of what is added up does not matter."""
    if part == name:
        return None
    if isinstance(part, Atom):
        return tuple(_shape(each, name) for each in part.inner) if part.marks & name.mark else part
    if isinstance(part, tuple):
        shapes = [_shape(each, name) for each in part]
        is_sum = all(isinstance(each, tuple) and not isinstance(each, Atom) for each in part)
        return tuple(sorted(shapes, key=repr) if is_sum else shapes)
    return part
