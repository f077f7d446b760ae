"""Counts that the host has put into global memory: a path that decides on one of them alone is up to the host.

What several numbers in memory, or memory and parameters, say may be related in a way that only the host knows: roles
that read their work from different tables agree because the tables do. One number, or the length between two that
stand side by side, is like a size that is passed: the host may choose any that is positive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet

from ...symex.values.approximated_terms import (
    inputs_of,
    sources_of,
    variables_of,
    within_grid,
)
from ...symex.values.solver import SolverOracle, neighbours
from ...symex.values.symbol import (
    Atom,
    Condition,
    Form,
    plus,
)

_POINTER = 8
_MORE = 1 << 31
"""More than a host counts."""
Path = Collection[tuple[Condition, bool]]


def is_up_to_host(
    path: Path, oracle: SolverOracle, starts: Mapping[str, int], written: AbstractSet[int]
) -> bool:
    """Tell whether some host makes the decisions of a run, as all that they ask of it is one positive count in memory.

    `starts` has the offsets of parameters by name, `written` those of pointers to what the kernel may write.
    """
    count = _count_of(path)
    if count is None or not all(_is_left_alone(name, starts, written) for name, _ in count.terms):
        return False
    within = ((Condition("lt", count, 1), False), (Condition("lt", count, _MORE), True))
    return oracle.is_certain([*path, *within_grid(path), *within])


def _count_of(path: Path) -> Form | None:
    """Return the only thing that a path asks of the host, None when there is more, or nothing."""
    names = {source for atom in variables_of(path) for source in sources_of(atom)}
    loads = sorted((each for each in names if each[0] == "load"), key=lambda each: each.digest)
    if any(each[0] not in ("load", "special") for each in names):
        return None
    if len(loads) == 1:
        return Form(((loads[0], 1),))
    pair = next(iter(neighbours(loads)), None) if len(loads) == 2 else None
    if pair is None:
        return None
    earlier, later = pair
    if not all(_is_of_length(condition.form, earlier, later) for condition, _ in path):
        return None
    length = plus(Form(((later, 1),)), Form(((earlier, 1),)), -1)
    return length if isinstance(length, Form) else None


def _is_of_length(form: Form, earlier: Atom, later: Atom) -> bool:
    """Tell whether a form takes one of two numbers from the other, or asks for neither."""
    terms = dict(form.terms)
    if terms.keys() == {earlier, later}:
        return terms[earlier] == -terms[later]
    return not any({earlier, later} & set(sources_of(name)) for name in terms)


def _is_left_alone(load: Atom, starts: Mapping[str, int], written: AbstractSet[int]) -> bool:
    """Tell whether a number lies in an array that a parameter points to and that the kernel does not write."""
    pointers = [name for name in inputs_of(load.inner[1]) if name[0] != "special"]
    if len(pointers) != 1 or pointers[0][0] != "param":
        return False
    _, symbol, at, size = pointers[0]
    start = starts.get(str(symbol))
    return size == _POINTER and isinstance(at, int) and start is not None and start + at not in written
