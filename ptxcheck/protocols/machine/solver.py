"""Decisions of a run as claims for the solver: which sides of a branch earlier decisions leave possible.

Parameters and CTA indices are read as signed 32-bit integers without wrap-around; loads and operations that are
not linear, a shift or a mask by a constant are variables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...smt import Claim, PathSolver, Quotient, Remainder, Sum, Term, Unsigned, Variable
from .bounds import Bounds
from .resolve import leaves
from .symbol import Atom, Condition, Form

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
        self._terms = _Terms()
        self._path: list[Claim] = []
        self._bounds = Bounds()
        self._root = _Node()
        self._at = self._root

    def restart(self) -> None:
        """Forget the decisions: another run begins."""
        self._path.clear()
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
        given = [self._terms.claim(condition, truth) for condition, truth in claims]
        return self._ready().possible(given) is not False

    def only(self, form: Form) -> int | None:
        """Return the one number that a form can be after the decisions, None when that is not known."""
        numbers = self._at.numbers
        if form not in numbers:
            numbers[form] = self._only(self._terms.of(form))
        return numbers[form]

    def _only(self, term: Term) -> int | None:
        known = self._bounds.only(term)
        if known is not None:
            return known
        solver = self._ready()
        found = solver.example(self._path, term)
        if found is None:
            return None
        other = solver.possible([*self._path, Claim("eq", term, found, holds=False)])
        return found if other is False else None

    def example(self, name: Atom, others: Mapping[Atom, int] | None = None) -> int | None:
        """Return a number that an atom can be after the decisions, one that is not negative if there is any.

        `others` gives numbers of other atoms.
        """
        if others:
            return self._example(name, [*self._path, *self._numbered(others)])
        if name not in self._at.examples:
            self._at.examples[name] = self._example(name, self._path)
        return self._at.examples[name]

    def _example(self, name: Atom, claims: Sequence[Claim]) -> int | None:
        solver, term = self._ready(), self._terms.of_atom(name)
        found = solver.example([*claims, Claim("lt", term, 0, holds=False)], term)
        return solver.example(claims, term) if found is None else found

    def numbers(self, claims: Sequence[tuple[Condition, bool]]) -> dict[Atom, int] | None:
        """Return numbers for what the last of some conditions depends on with which all can hold, small if possible."""
        given = [self._terms.claim(condition, truth) for condition, truth in claims]
        found: dict[Atom, int] = {}
        for name in leaves(claims[-1][0].form):
            number, term = None, self._terms.of_atom(name)
            least = [Claim("lt", term, 0, holds=False)]
            for more in (*([*least, Claim("lt", term, bound)] for bound in _SMALL), least, []):
                number = self._ready().example([*given, *self._numbered(found), *more], term)
                if number is not None:
                    break
            if number is None:
                return None
            found[name] = number
        return found

    def admits_sizes(self, path: Iterable[tuple[Condition, bool]]) -> bool:
        """Tell whether the decisions of a run may hold where no parameter in them is negative."""
        names = {name for condition, _ in path for name in leaves(condition.form) if name[0] == "param"}
        ordered = sorted(names, key=lambda each: each.digest)
        sizes = [Claim("lt", self._terms.of_atom(name), 0, holds=False) for name in ordered]
        return self._ready().possible([*self._path, *sizes]) is not False

    def admits(self, numbers: Mapping[Atom, int]) -> bool:
        """Tell whether the decisions can certainly hold with these numbers."""
        return self._ready().possible([*self._path, *self._numbered(numbers)]) is True

    def is_consistent(self) -> bool:
        """Tell whether the decisions can hold together, as far as is known."""
        if self._at.consistent is None:
            self._at.consistent = self._ready().possible(self._path) is not False
        return self._at.consistent

    def _numbered(self, numbers: Mapping[Atom, int]) -> list[Claim]:
        return [Claim("eq", self._terms.of_atom(name), number) for name, number in numbers.items()]

    def _ready(self) -> PathSolver:
        if self._solver is None:
            self._solver = PathSolver()
        return self._solver

    def _ask(self, condition: Condition) -> bool | None:
        claim, opposite = (self._terms.claim(condition, truth) for truth in (True, False))
        known = self._bounds.implied(claim)
        if known is not None:
            return known
        solver = self._ready()
        can_hold = solver.possible([*self._path, claim])
        if can_hold is False:
            return False
        can_fail = solver.possible([*self._path, opposite])
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


class _Terms:
    """Terms of the solver for forms and atoms, each made once."""

    def __init__(self) -> None:
        self._atoms: dict[Atom, Term] = {}
        self._forms: dict[Form, Term] = {}
        self._claims: dict[tuple[Condition, bool], Claim] = {}

    def claim(self, condition: Condition, truth: bool) -> Claim:
        """Return the claim that a condition has a truth."""
        found = self._claims.get((condition, truth))
        if found is None:
            found = self._claims[condition, truth] = self._claimed(condition, truth)
        return found

    def _claimed(self, condition: Condition, truth: bool) -> Claim:
        term = self.of(condition.form)
        if condition.relation == "below":
            return Claim("lt", Unsigned(term), condition.bound, truth)
        if condition.relation == "ne":
            return Claim("eq", term, condition.bound, not truth)
        return Claim(condition.relation, term, condition.bound, truth)

    def of(self, form: Form) -> Term:
        """Return a form as a term."""
        found = self._forms.get(form)
        if found is None:
            terms = tuple((factor, self.of_atom(name)) for name, factor in form.terms)
            found = self._forms[form] = Sum(terms, form.constant)
        return found

    def of_atom(self, name: Atom) -> Term:
        """Return an atom as a term: a variable, unless it is an operation that the solver follows."""
        found = self._atoms.get(name)
        if found is None:
            found = self._atoms[name] = self._operation(name) or _variable(name)
        return found

    def _operation(self, name: Atom) -> Term | None:
        kind, *arguments = name
        width = 32
        if kind in _SHIFTS:
            *arguments, given = arguments
            width = given if isinstance(given, int) else 32
        if kind == "mulhi":
            *arguments, given, is_signed = arguments
            width = given if isinstance(given, int) else 32
            arguments = [] if is_signed else arguments
        if len(arguments) != 2:
            return None
        for value, amount in (arguments, arguments[::-1]):
            if not isinstance(amount, int) or not isinstance(value, tuple):
                continue
            inner = self._argument(value)
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
        return None

    def _argument(self, value: tuple[object, ...]) -> Term:
        if value[0] == "sum":
            _, terms, constant = value
            parts = tuple((factor, self.of_atom(name)) for name, factor in terms)  # type: ignore[attr-defined]
            return Sum(parts, constant)  # type: ignore[arg-type]
        assert isinstance(value, Atom)
        return self.of_atom(value)


def _variable(name: Atom) -> Variable:
    low = _LEAST.get(str(name[1]), _LOW) if name[0] == "special" else _LOW
    return Variable(name.digest.hex(), low, _HIGH)
