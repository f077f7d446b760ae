"""Decisions of a run as claims for the solver: which sides of a branch earlier decisions leave possible.

Property: a side that `implied` or `is_possible` excludes has no numbers that agree with the decisions before it.

Argument: decisions are given to the solver as claims (`terms`); where it finds no answer in time, both sides stay
open.

Not covered: loads, and operations that are not linear, a shift or a mask by a constant: these are variables of their
own, so that what is possible to the solver may not be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ....terms.effort import Effort
from ....terms.integers import Claim, Sum, Term
from ....terms.refutations import note_integers
from ....terms.smt import PathSolver
from .approximated_terms import within_grid
from .bounds import Bounds
from .divisors import divisors_in
from .kinds import Kind
from .substitution import leaves, with_pins
from .symbol import (
    OF_HOST,
    Atom,
    Condition,
    Form,
)
from .terms import Terms
from .traversal import walk

_DIVISORS = (2, 1, 3, 64)
"""Divisors of the host that are tried, one for all divisions of a path."""
_SMALL = (1 << 8, 1 << 12, 1 << 16)


class SolverOracle:
    """Knows what the decisions of a run imply (see `symbol.Oracle`), for all runs of a kernel.

    Runs share one solver; answers are kept by what was decided before. The solver starts at the first question.
    """

    def __init__(self, effort: Effort | None = None) -> None:
        self._effort = effort
        self._solver: PathSolver | None = None
        self._terms = Terms()
        self._path: list[Claim] = []
        self._bounds = Bounds()
        self._possible: dict[tuple[tuple[Condition, bool], ...], bool] = {}
        """Answers that do not depend on a run, as the same sides are asked about whenever more runs were made."""
        self._root = _Node()
        self._at = self._root

    def restart(self) -> None:
        """Forget the decisions: another run begins."""
        self._path = []
        self._bounds = Bounds()
        self._at = self._root

    def assume(self, condition: Condition, truth: bool) -> None:
        claim = self._terms.claim(condition, truth)
        self._path.append(claim)
        self._bounds.note(claim)
        self._at = self._at.next.setdefault((condition, truth), _Node())

    def implied(self, condition: Condition) -> bool | None:
        """Return the side that is the only possible one, or None."""
        answers = self._at.answers
        if condition not in answers:
            answers[condition] = self._ask(condition)
        return answers[condition]

    def is_possible(self, claims: Sequence[tuple[Condition, bool]]) -> bool:
        """Tell whether conditions may have these truths together, whatever a run decided; True when undecided."""
        asked = tuple(claims)
        known = self._possible.get(asked)
        if known is None:
            given = [self._terms.claim(condition, truth) for condition, truth in asked]
            known = self._possible[asked] = self._ready().possible(given) is not False
        return known

    def is_certain(self, claims: Sequence[tuple[Condition, bool]]) -> bool:
        """Tell whether conditions can certainly have these truths together, whatever a run decided."""
        given = [self._terms.claim(condition, truth) for condition, truth in claims]
        return self._ready().possible(given) is True

    def only(self, form: Form) -> int | None:
        """Return the one number that a form can be after the decisions, None when that is not known."""
        numbers = self._at.numbers
        if form not in numbers:
            numbers[form] = self._only(self._terms.of(form))
        return numbers[form]

    def _only(self, term: Term) -> int | None:
        known = self._bounds.only(term)
        if known is not None:
            note_integers((*self._path, Claim("eq", term, known, holds=False)))
            return known
        solver = self._ready()
        found = solver.example((), term, self._path)
        if found is None:
            return None
        other = solver.possible([Claim("eq", term, found, holds=False)], self._path)
        return found if other is False else None

    def example(self, name: Atom, others: Mapping[Atom, int] | None = None) -> int | None:
        """Return a number that an atom can be after the decisions.

        One that is not negative if there is any, and for a parameter, which may be a size, one that is not zero either.
        `others` gives numbers of other atoms.
        """
        if others:
            return self._example(name, self._numbered(others))
        if name not in self._at.examples:
            self._at.examples[name] = self._example(name, ())
        return self._at.examples[name]

    def _example(self, name: Atom, claims: Sequence[Claim]) -> int | None:
        solver, term = self._ready(), self._terms.of_atom(name)
        for least in (1, 0) if name.kind is Kind.PARAM else (0,):
            found = solver.example([*claims, Claim("lt", term, least, holds=False)], term, self._path)
            if found is not None:
                return found
        return solver.example(claims, term, self._path)

    def numbers(self, claims: Sequence[tuple[Condition, bool]]) -> dict[Atom, int] | None:
        """Return numbers for what the last of some conditions depends on with which all can hold, small if possible.

        What the host computes from a divisor is that of one; None where none of a few will do.
        """
        given = [self._terms.claim(condition, truth) for condition, truth in (*claims, *within_grid(claims))]
        asked = tuple(leaves(claims[-1][0].form))
        divisions = [each for each in divisors_in(claims) if each.multiplier in asked]
        for number in _DIVISORS if divisions else ():
            chosen = {name: part for each in divisions for name, part in each.numbers(number).items()}
            found = self._completed(asked, given, chosen)
            if found is not None and _may_hold(claims, found):
                return found
        return None if divisions else self._completed(asked, given, {})

    def _completed(
        self, asked: Iterable[Atom], given: Sequence[Claim], numbers: Mapping[Atom, int]
    ) -> dict[Atom, int] | None:
        """Return numbers for all names that are asked for, beside some that are chosen; None where there are none."""
        found = dict(numbers)
        for name in asked:
            if name in found:
                continue
            number = self._small(self._terms.of_atom(name), [*given, *self._numbered(found)])
            if number is None:
                return None
            found[name] = number
        return found

    def small(self, name: Atom, claims: Sequence[tuple[Condition, bool]]) -> int | None:
        """Return a number that an atom can be where conditions hold, whatever a run decided: small if possible."""
        given = [self._terms.claim(condition, truth) for condition, truth in claims]
        return self._small(self._terms.of_atom(name), given)

    def positive(self, name: Atom, claims: Sequence[tuple[Condition, bool]]) -> int | None:
        """Return what `small` does, above zero if possible."""
        above = (Condition("lt", Form(((name, 1),)), 1), False)
        found = self.small(name, [*claims, above])
        return self.small(name, claims) if found is None else found

    def _small(self, term: Term, given: Sequence[Claim]) -> int | None:
        least = [Claim("lt", term, 0, holds=False)]
        for more in (*([*least, Claim("lt", term, bound)] for bound in _SMALL), least, []):
            number = self._ready().example([*given, *more], term)
            if number is not None:
                return number
        return None

    def admits_sizes(self, path: Iterable[tuple[Condition, bool]], *, lengths: bool = False) -> bool:
        """Tell whether the decisions of a run may hold where no number of the host in them is negative.

        With `lengths`, neither is the difference of two that stand side by side in a table: there things begin, one
        after the other. What is left where places in the grid and such numbers are divided is not negative, either.
        """
        path = tuple(path)
        names = {name for condition, _ in path for name in leaves(condition.form) if name.kind in OF_HOST}
        ordered = sorted(names, key=lambda each: each.digest)
        terms = [self._terms.of_atom(name) for name in ordered]
        for earlier, later in neighbours(ordered) if lengths else ():
            terms.append(Sum(((1, self._terms.of_atom(later)), (-1, self._terms.of_atom(earlier))), 0))
        rests = {
            name for condition, _ in path for name in walk(condition.form.terms) if _is_natural_rest(name)
        }
        terms += [self._terms.of_atom(name) for name in sorted(rests, key=lambda each: each.digest)]
        sizes = [Claim("lt", term, 0, holds=False) for term in terms]
        return self._ready().possible(sizes, self._path) is not False

    def is_consistent(self) -> bool:
        """Tell whether the decisions can hold together, as far as is known."""
        if self._at.consistent is None:
            self._at.consistent = self._ready().possible((), self._path) is not False
        return self._at.consistent

    def _numbered(self, numbers: Mapping[Atom, int]) -> list[Claim]:
        return [Claim("eq", self._terms.of_atom(name), number) for name, number in numbers.items()]

    def _ready(self) -> PathSolver:
        if self._solver is None:
            self._solver = PathSolver(self._effort)
        return self._solver

    def _ask(self, condition: Condition) -> bool | None:
        claim, opposite = (self._terms.claim(condition, truth) for truth in (True, False))
        known = self._bounds.implied(claim)
        if known is not None:
            note_integers((*self._path, opposite if known else claim))
            return known
        solver = self._ready()
        can_hold = solver.possible([claim], self._path)
        if can_hold is False:
            return False
        can_fail = solver.possible([opposite], self._path)
        if can_fail is False:
            return True
        return None


def neighbours(names: Iterable[Atom]) -> Iterator[tuple[Atom, Atom]]:
    """Yield loads of numbers that stand side by side in memory, the one in front first."""
    places = {place: name for name in names if (place := _place(name)) is not None}
    for (terms, constant, width), name in places.items():
        later = places.get((terms, constant + width // 8, width))
        if later is not None:
            yield name, later


def _place(name: Atom) -> tuple[object, int, int] | None:
    """Return the address and the width of a number in memory, None when the address is not known."""
    if name.kind is not Kind.LOAD or len(name) != 3 or not isinstance(name[1], Atom):
        return None
    width = name[2]
    assert isinstance(width, int)
    if name[1].inner_kind is not Kind.SUM:
        return ((name[1], 1),), 0, width
    _, terms, constant = name[1].inner
    assert isinstance(constant, int)
    return terms, constant, width


def _is_natural_rest(name: Atom) -> bool:
    """Tell whether an atom is what is left where a sum of places in the grid, and of sizes, is divided."""
    return name.inner_kind is Kind.REM and _is_natural(name.inner[1])


def _is_natural(part: object) -> bool:
    match part.inner if isinstance(part, Atom) else ():
        case (Kind.MUL, one, other):
            return _is_natural(one) and _is_natural(other)
        case (Kind.SUM, tuple(terms), int(constant)):
            return constant >= 0 and all(factor > 0 and _is_natural(each) for each, factor in terms)
        case (kind, *_):
            return kind is Kind.SPECIAL or kind in OF_HOST
        case _:
            return isinstance(part, int) and part >= 0


@dataclass(slots=True)
class _Node:
    """What is known after a sequence of decisions."""

    answers: dict[Condition, bool | None] = field(default_factory=dict)
    numbers: dict[Form, int | None] = field(default_factory=dict)
    examples: dict[Atom, int | None] = field(default_factory=dict)
    consistent: bool | None = None
    next: dict[tuple[Condition, bool], _Node] = field(default_factory=dict)


def _may_hold(claims: Iterable[tuple[Condition, bool]], numbers: Mapping[Atom, int]) -> bool:
    """Tell whether no condition is another one with some numbers put in, products and divisions computed."""
    values = ((each, truth, with_pins(each.form, numbers, 1)) for each, truth in claims)
    return all(not isinstance(value, int) or each.holds(value) == truth for each, truth, value in values)
