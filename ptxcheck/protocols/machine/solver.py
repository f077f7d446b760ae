"""Decisions of a run as claims for the solver: which sides of a branch earlier decisions leave possible.

Parameters and CTA indices are read as signed 32-bit integers without wrap-around; loads and operations that are
not linear, a shift or a mask by a constant are variables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .resolve import leaves
from .symbol import Atom, Condition, Form

if TYPE_CHECKING:
    from ...smt import Claim, PathSolver, Term

_SMALL = (1 << 8, 1 << 12, 1 << 16)
_LEAST = {
    f"%{name}.{axis}": least
    for name, least in (("clusterid", 0), ("nctaid", 1), ("nclusterid", 1))
    for axis in "xyz"
}
"""Least numbers of special registers."""
_LOW, _HIGH = -(1 << 31), (1 << 31) - 1


class SolverOracle:
    """Knows what the decisions of a run imply (see `symbol.Oracle`), for all runs of a kernel.

    Runs share one solver; answers are kept by what was decided before. The solver starts at the first question.
    """

    def __init__(self) -> None:
        self._solver: PathSolver | None = None
        self._path: list[Claim] = []
        self._root = _Node()
        self._at = self._root

    def restart(self) -> None:
        """Forget the decisions: another run begins."""
        self._path.clear()
        self._at = self._root

    def assume(self, condition: Condition, truth: bool) -> None:
        self._path.append(_claim(condition, truth))
        self._at = self._at.next.setdefault((condition, truth), _Node())

    def implied(self, condition: Condition) -> bool | None:
        """Return the side that is the only possible one, or None."""
        answers = self._at.answers
        if condition not in answers:
            answers[condition] = self._ask(condition)
        return answers[condition]

    def is_possible(self, claims: Sequence[tuple[Condition, bool]]) -> bool:
        """Tell whether conditions may have these truths together, whatever a run decided; True when undecided."""
        from ...smt import PathSolver

        if self._solver is None:
            self._solver = PathSolver()
        return self._solver.possible([_claim(condition, truth) for condition, truth in claims]) is not False

    def only(self, form: Form) -> int | None:
        """Return the one number that a form can be after the decisions, None when that is not known."""
        from ...smt import Claim

        numbers = self._at.numbers
        if form not in numbers:
            solver, term = self._ready(), term_of(form)
            found = solver.example(self._path, term)
            if found is not None:
                other = solver.possible([*self._path, Claim("eq", term, found, holds=False)])
                found = found if other is False else None
            numbers[form] = found
        return numbers[form]

    def example(self, name: Atom, others: Mapping[Atom, int] | None = None) -> int | None:
        """Return a number that an atom can be after the decisions, one that is not negative if there is any.

        `others` gives numbers of other atoms.
        """
        if others:
            return self._example(name, [*self._path, *_numbered(others)])
        if name not in self._at.examples:
            self._at.examples[name] = self._example(name, self._path)
        return self._at.examples[name]

    def _example(self, name: Atom, claims: Sequence[Claim]) -> int | None:
        from ...smt import Claim

        solver, term = self._ready(), _atom(name)
        found = solver.example([*claims, Claim("lt", term, 0, holds=False)], term)
        return solver.example(claims, term) if found is None else found

    def numbers(self, claims: Sequence[tuple[Condition, bool]]) -> dict[Atom, int] | None:
        """Return numbers for what the last of some conditions depends on with which all can hold, small if possible."""
        from ...smt import Claim

        given = [_claim(condition, truth) for condition, truth in claims]
        found: dict[Atom, int] = {}
        for name in leaves(claims[-1][0].form):
            number, term = None, _atom(name)
            least = [Claim("lt", term, 0, holds=False)]
            for more in (*([*least, Claim("lt", term, bound)] for bound in _SMALL), least, []):
                number = self._ready().example([*given, *_numbered(found), *more], term)
                if number is not None:
                    break
            if number is None:
                return None
            found[name] = number
        return found

    def admits_sizes(self, path: Iterable[tuple[Condition, bool]]) -> bool:
        """Tell whether the decisions of a run may hold where no parameter in them is negative."""
        from ...smt import Claim

        names = {name for condition, _ in path for name in leaves(condition.form) if name[0] == "param"}
        sizes = [Claim("lt", _atom(n), 0, holds=False) for n in sorted(names, key=lambda each: each.digest)]
        return self._ready().possible([*self._path, *sizes]) is not False

    def admits(self, numbers: Mapping[Atom, int]) -> bool:
        """Tell whether the decisions can certainly hold with these numbers."""
        return self._ready().possible([*self._path, *_numbered(numbers)]) is True

    def is_consistent(self) -> bool:
        """Tell whether the decisions can hold together, as far as is known."""
        if self._at.consistent is None:
            self._at.consistent = self._ready().possible(self._path) is not False
        return self._at.consistent

    def _ready(self) -> PathSolver:
        from ...smt import PathSolver

        if self._solver is None:
            self._solver = PathSolver()
        return self._solver

    def _ask(self, condition: Condition) -> bool | None:
        solver = self._ready()
        can_hold = solver.possible([*self._path, _claim(condition, True)])
        if can_hold is False:
            return False
        can_fail = solver.possible([*self._path, _claim(condition, False)])
        if can_fail is False:
            return True
        return None


@dataclass(slots=True)
class _Node:
    """What is known after a sequence of decisions."""

    answers: dict[Condition, bool | None] = field(default_factory=dict)
    numbers: dict[Form, int | None] = field(default_factory=dict)
    examples: dict[Atom, int | None] = field(default_factory=dict)
    consistent: bool | None = None
    next: dict[tuple[Condition, bool], _Node] = field(default_factory=dict)


def _numbered(numbers: Mapping[Atom, int]) -> list[Claim]:
    from ...smt import Claim

    return [Claim("eq", _atom(name), number) for name, number in numbers.items()]


def _claim(condition: Condition, truth: bool) -> Claim:
    from ...smt import Claim, Unsigned

    if condition.relation == "below":
        return Claim("lt", Unsigned(term_of(condition.form)), condition.bound, truth)
    if condition.relation == "ne":
        return Claim("eq", term_of(condition.form), condition.bound, not truth)
    return Claim(condition.relation, term_of(condition.form), condition.bound, truth)


def term_of(form: Form) -> Term:
    """Return a form as a term of the solver."""
    from ...smt import Sum

    return Sum(tuple((factor, _atom(name)) for name, factor in form.terms), form.constant)


_SHIFTS = frozenset({"shl", "shr", "sar"})
"""Their atoms end with the width."""


def follows(name: Atom) -> object | None:
    """Return the argument of an atom that the solver computes with, None when it takes the atom for a variable."""
    kind, *arguments = name
    width: object = 32
    if kind == "mulhi":
        *arguments, _, is_signed = arguments
        if is_signed:
            return None
    if kind in _SHIFTS:
        *arguments, width = arguments
    if len(arguments) != 2:
        return None
    for value, amount in (arguments, arguments[::-1]):
        if not isinstance(amount, int) or not isinstance(value, tuple):
            continue
        if kind in ("sar", "shr") and isinstance(width, int) and 0 <= amount < width:
            return value
        if kind == "mulhi":
            return value
        cleared = (1 << 32) - (amount & 0xFFFFFFFF)
        if kind == "and" and (amount & (amount + 1) == 0 or cleared & (cleared - 1) == 0):
            return value
    return None


def _atom(name: Atom) -> Term:
    from ...smt import Quotient, Remainder, Sum, Unsigned, Variable

    kind, *arguments = name
    width = 32
    if kind in _SHIFTS:
        *arguments, given = arguments
        width = given if isinstance(given, int) else 32
    if kind == "mulhi":
        *arguments, given, is_signed = arguments
        width = given if isinstance(given, int) else 32
        arguments = [] if is_signed else arguments
    if len(arguments) == 2:
        for value, amount in (arguments, arguments[::-1]):
            if not isinstance(amount, int) or not isinstance(value, tuple):
                continue
            inner = _argument(value)
            if kind == "sar" and 0 <= amount < width:
                return Quotient(inner, 1 << amount)
            if kind == "shr" and 0 <= amount < width:
                return Quotient(Unsigned(inner, width), 1 << amount)
            if kind == "mulhi":
                return Quotient(Sum(((amount, Unsigned(inner, width)),), 0), 1 << width)
            if kind == "and" and amount & (amount + 1) == 0 and amount < 1 << 32:
                return Remainder(inner, amount + 1)
            cleared = (1 << 32) - (amount & 0xFFFFFFFF)
            if kind == "and" and cleared & (cleared - 1) == 0:
                return Sum(((1, inner), (-1, Remainder(inner, cleared))), 0)
    low = _LEAST.get(str(arguments[0]), _LOW) if kind == "special" else _LOW
    return Variable(name.digest.hex(), low, _HIGH)


def _argument(value: tuple[object, ...]) -> Term:
    from ...smt import Sum

    if value[0] == "sum":
        _, terms, constant = value
        return Sum(tuple((factor, _atom(name)) for name, factor in terms), constant)  # type: ignore[attr-defined, arg-type]
    assert isinstance(value, Atom)
    return _atom(value)
