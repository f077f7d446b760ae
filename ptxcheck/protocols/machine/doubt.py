"""Whether the solver knows all about a path: else a path that it takes for possible may not be.

The solver follows sums, and shifts and masks by constants. Every other operation is a variable of its own to it.
Such a variable is harmless while nothing else that is decided depends on the same parameters or loads; otherwise
the two may be related in a way that the solver does not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .solver import follows
from .symbol import Atom, Condition

_SOURCES = frozenset(
    {"param", "special", "load", "shared", "strong", "volatile", "result", "returned", "loop"}
)


def doubt_of(path: Iterable[tuple[Condition, bool]]) -> Atom | None:
    """Return an atom that may be related to another one of the path without the solver knowing, or None."""
    variables = {
        atom for condition, _ in path for name, _ in condition.form.terms for atom in _variables(name)
    }
    sources = {atom: frozenset(_sources(atom)) for atom in variables}
    for atom in sorted(variables, key=lambda each: each.digest):
        if atom[0] in _SOURCES:
            continue
        if any(other != atom and sources[atom] & sources[other] for other in variables):
            return atom
    return None


def _variables(atom: Atom) -> Iterator[Atom]:
    """Yield what the solver takes for variables in an atom."""
    inner = follows(atom)
    if inner is None:
        yield atom
        return
    for each in _atoms_of(inner):
        yield from _variables(each)


def _atoms_of(part: object) -> Iterator[Atom]:
    """Yield the outermost atoms of an argument, those of a sum one by one."""
    if isinstance(part, Atom) and part[0] != "sum":
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _atoms_of(each)


def _sources(atom: Atom) -> Iterator[Atom]:
    """Yield the parameters, loads and other beginnings that an atom is computed from."""
    waiting: list[object] = [atom]
    seen: set[Atom] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Atom):
            if part in seen:
                continue
            seen.add(part)
            if part[0] in _SOURCES or part[0] == "deep":
                yield part
                continue
        if isinstance(part, tuple):
            waiting.extend(part)
