"""Numbers with which the decisions of a run are certainly possible.

To the solver, a product of two symbols is a variable, unless a factor is a number, and a division unless the divisor
is. So numbers are chosen for what makes a factor or a divisor, small and positive ones first, until the solver follows
all that is left; it finds the rest. Multipliers and shifts are those of a divisor (see `divisors`). What is found
counts only when all that is computed from it, exactly, keeps the decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain, islice, product

from ...symex.values.approximated_terms import (
    SOURCES,
    inputs_of,
    variables_of,
    within_grid,
)
from ...symex.values.divisors import Divisor, divisors_in
from ...symex.values.solver import SolverOracle
from ...symex.values.substitution import with_pins
from ...symex.values.symbol import (
    OF_HOST,
    Atom,
    Condition,
    Form,
)

Path = Sequence[tuple[Condition, bool]]
_FIRST = (1, 2, 3)
_FURTHER = (7, 15, 31)
"""Places in the grid behind others: a tile that much is to do for is seldom among the first."""
_DIVISORS = (2, 64, 3, 1)
_MOST_DIVISORS = 6
"""Most choices of divisors that are tried."""
_MOST_TRIED = 40
"""Most numbers that are put in for one path."""
_DIVISIONS = frozenset({"div", "rem"})
_SHOWN = OF_HOST | {"special"}
_MOST_SHOWN = 40
"""Most inputs of a path that numbers are told of."""


def is_realised(path: Path, oracle: SolverOracle, choices: int | None = None) -> bool:
    """Tell whether numbers were found for what a path depends on with which it is certainly possible.

    `path` is that of the run that the oracle knows. Beside those that the solver gives at once, `choices` of numbers
    are looked at that are sought one after the other, as many as there are when that is None.
    """
    return _realising([*path, *within_grid(path)], oracle, choices) is not None


def inputs_with(path: Path, oracle: SolverOracle) -> dict[Atom, int]:
    """Return a number for each input of a path, positive where it can be, with all of which it is certainly possible.

    Inputs are parameters, numbers in global memory, and places in the grid. Empty where no numbers were found.
    """
    whole = [*path, *within_grid(path)]
    fixed = _realising(whole, oracle, None)
    if fixed is None:
        return {}
    inputs = {name: None for atom in variables_of(whole) for name in inputs_of(atom) if name[0] in _SHOWN}
    found = dict(fixed)
    for name in inputs if len(inputs) <= _MOST_SHOWN else ():
        number = found.get(name)
        if number is None:
            number = oracle.positive(name, [*whole, *_equal(found)])
        if number is None:
            return {}
        found[name] = number
    return {name: found[name] for name in inputs if name in found}


def _realising(path: Path, oracle: SolverOracle, choices: int | None) -> Mapping[Atom, int] | None:
    """Return numbers that make a path certainly possible, with what is computed from them; None if none are known."""
    odd = _not_followed(path)
    if not odd:
        return {} if oracle.is_certain(path) else None
    search = _Search(oracle, odd)
    divisors = divisors_in(path)
    patterns = {each.multiplier for each in divisors}
    sought = islice(_divided(search, path, divisors), choices)
    for numbers in chain(search.examples(), sought):
        if all(each.fits(numbers) for each in divisors) and not _has_negative(numbers, patterns):
            computed = _computed(path, odd, numbers, oracle)
            if computed is not None:
                return computed
    return None


def _has_negative(numbers: Mapping[Atom, int], patterns: AbstractSet[Atom]) -> bool:
    """Tell whether the host gives a number below zero that is none of some bit patterns.

    Orders of two symbols are those of signed numbers (see `lanes`): the type of a comparison may tell otherwise.
    """
    given = (number for name, number in numbers.items() if name[0] in OF_HOST and name not in patterns)
    return any(number < 0 for number in given)


def _divided(search: _Search, path: Path, divisors: Sequence[Divisor]) -> Iterator[dict[Atom, int]]:
    """Yield numbers that keep a path, with some divisors or others."""
    possible = [
        [number for number in _DIVISORS if with_numbers(path, divisor.numbers(number)) is not None]
        for divisor in divisors
    ]
    for choice in islice(product(*possible), _MOST_DIVISORS):
        numbers: dict[Atom, int] = {}
        for divisor, number in zip(divisors, choice, strict=True):
            numbers |= divisor.numbers(number)
        reduced = with_numbers(path, numbers)
        if reduced is not None:
            yield from replace(search, tried=0).found(reduced, numbers)


def _computed(
    path: Path, odd: Sequence[Atom], numbers: Mapping[Atom, int], oracle: SolverOracle
) -> Mapping[Atom, int] | None:
    """Return numbers with what is not followed, computed from them; None where the path is not possible with them."""
    computed = dict(numbers)
    for atom in odd:
        value = with_pins(Form(((atom, 1),)), numbers, 1)
        if not isinstance(value, int):
            return None
        computed[atom] = value - (1 << 32) if 1 << 31 <= value < 1 << 32 else value
    return computed if oracle.is_certain([*path, *_equal(computed)]) else None


def _equal(numbers: Mapping[Atom, int]) -> list[tuple[Condition, bool]]:
    return [(Condition("eq", Form(((name, 1),)), number), True) for name, number in numbers.items()]


def _not_followed(path: Path) -> list[Atom]:
    return [atom for atom in variables_of(path) if atom[0] not in SOURCES]


@dataclass(slots=True)
class _Search:
    oracle: SolverOracle
    odd: Sequence[Atom]
    """What the solver does not follow in the path."""
    tried: int = 0

    def examples(self) -> Iterator[dict[Atom, int]]:
        """Yield one number for each input of the odd atoms, as the solver finds them one after the other."""
        numbers: dict[Atom, int] = {}
        for name in sorted(self._inputs(), key=lambda each: each.digest):
            number = self.oracle.example(name, numbers)
            if number is None:
                return
            numbers[name] = number
        yield numbers

    def _inputs(self) -> dict[Atom, None]:
        return dict.fromkeys(source for atom in self.odd for source in inputs_of(atom))

    def found(self, path: Path, numbers: dict[Atom, int]) -> Iterator[dict[Atom, int]]:
        """Yield numbers for all that the odd atoms are computed from, as far as the solver sees possible ones."""
        if not self.oracle.is_possible(path):
            return
        odd = _not_followed(path)
        if not odd:
            completed = self._completed(path, numbers)
            if completed is not None:
                yield completed
            return
        name = _next(odd, numbers)
        if name is None:
            return
        for number in self._numbers_for(name, path, numbers):
            self.tried += 1
            if self.tried > _MOST_TRIED:
                return
            more = {**numbers, name: number}
            reduced = with_numbers(path, more)
            if reduced is not None:
                yield from self.found(reduced, more)

    def _numbers_for(self, name: Atom, path: Path, numbers: Mapping[Atom, int]) -> Iterator[int]:
        given = [*path, *_equal(numbers)]
        tried = set()
        for number in (*_FIRST, *_FURTHER) if name[0] == "special" else _FIRST:
            if self.oracle.is_possible([*given, *_equal({name: number})]):
                tried.add(number)
                yield number
        for least in (1, 0):
            found = self.oracle.small(name, [*given, (Condition("lt", Form(((name, 1),)), least), False)])
            if found is not None and found not in tried:
                tried.add(found)
                yield found

    def _completed(self, path: Path, numbers: Mapping[Atom, int]) -> dict[Atom, int] | None:
        """Return numbers for the rest, which the solver follows."""
        completed = dict(numbers)
        for name in self._inputs():
            if name in completed:
                continue
            number = self.oracle.small(name, [*path, *_equal(completed)])
            if number is None:
                return None
            completed[name] = number
        return completed


def _next(odd: Sequence[Atom], numbers: Mapping[Atom, int]) -> Atom | None:
    """Return what to choose a number for, so that one of some atoms becomes simpler."""
    for atom in odd:
        kind, *parts = atom.inner
        factors = parts[1:2] if kind in _DIVISIONS else parts[:2] if kind == "mul" else [atom]
        choices = [[name for name in inputs_of(part) if name not in numbers] for part in factors]
        fewest = min((each for each in choices if each), key=len, default=None)
        if fewest is not None:
            return fewest[0]
    return None


def with_numbers(path: Path, numbers: Mapping[Atom, int]) -> list[tuple[Condition, bool]] | None:
    """Return what a path still asks where some numbers are known, None when they contradict it."""
    found: list[tuple[Condition, bool]] = []
    for condition, truth in path:
        value = with_pins(condition.form, numbers, 1)
        if isinstance(value, Form):
            found.append((replace(condition, form=value), truth))
        elif not isinstance(value, int) or condition.holds(value) != truth:
            return None
    return found
