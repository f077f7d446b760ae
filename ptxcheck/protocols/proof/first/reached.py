"""Whether threads come to what a run does, with some parameters or other.

Divisions by parameters are written as high products and shifts, of which the host computes factor and amount. The
numbers that are tried for these may be others than it would pass together: that threads come to some code can be shown
with them, and not what comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...symex.values.approximated_terms import doubt_of, variables_of
from ...symex.values.solver import SolverOracle
from ...symex.values.symbol import Atom, Condition, Form
from .witness import Path, with_numbers

_BY_ANOTHER = frozenset({"mul", "mulhi", "shl", "shr", "sar", "div", "rem"})
_TRIED = (1, 0, 1 << 30, 2, None)
"""Numbers for factors and shifts: high products with them are zero, or shifts. None: the parameter is left open."""
_MOST_FACTORS = 3


def is_reached(path: Path, oracle: SolverOracle) -> bool:
    """Tell whether a path is possible with some factors, divisors and amounts of shifts among the parameters."""
    factors = {name for atom in variables_of(path) for name in _factors(atom)}
    names = sorted(factors, key=lambda each: each.digest)
    if not 0 < len(names) <= _MOST_FACTORS:
        return False
    for numbers in product(_TRIED, repeat=len(names)):
        chosen = {name: number for name, number in zip(names, numbers, strict=True) if number is not None}
        simpler = with_numbers(path, chosen)
        if simpler is not None:
            given = [(Condition("eq", Form(((name, 1),)), number), True) for name, number in chosen.items()]
            if doubt_of(simpler) is None and oracle.is_certain([*given, *simpler]):
                return True
    return False


def _factors(atom: Atom) -> Iterator[Atom]:
    """Yield the parameters that are factors, divisors or amounts of shifts in operations that are not followed."""
    waiting: list[object] = [atom]
    seen: set[Atom] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Atom):
            if part in seen:
                continue
            seen.add(part)
            if part[0] in _BY_ANOTHER:
                yield from (each for each in part[1:3] if isinstance(each, Atom) and each[0] == "param")
        if isinstance(part, tuple):
            waiting.extend(part)
