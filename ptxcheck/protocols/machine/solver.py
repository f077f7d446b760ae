"""Decisions of a run as claims for the solver: which sides of a branch earlier decisions leave possible.

Parameters and CTA indices are read as signed 32-bit integers without wrap-around; loads and operations that are
not linear, a shift or a mask by a constant are variables of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .symbol import Atom, Condition, Form, show_atom

if TYPE_CHECKING:
    from ...smt import Claim, PathSolver, Term

_LOW, _HIGH = -(1 << 31), (1 << 31) - 1


class SolverOracle:
    """Knows what the decisions of one run imply (see `symbol.Oracle`). The solver starts at the first question."""

    def __init__(self) -> None:
        self._solver: PathSolver | None = None
        self._waiting: list[tuple[Condition, bool]] = []
        self._answers: dict[Condition, bool] = {}
        self.undecided = 0
        """Questions that the solver did not answer in time."""

    def assume(self, condition: Condition, truth: bool) -> None:
        self._waiting.append((condition, truth))

    def implied(self, condition: Condition) -> bool | None:
        """Return the side that is the only possible one, or None."""
        known = self._answers.get(condition)
        if known is not None:
            return known
        solver = self._ready()
        can_hold = solver.possible([_claim(condition, True)])
        if can_hold is False:
            return self._remember(condition, False)
        can_fail = solver.possible([_claim(condition, False)])
        if can_fail is False:
            return self._remember(condition, True)
        self.undecided += can_hold is None or can_fail is None
        return None

    def _remember(self, condition: Condition, truth: bool) -> bool:
        self._answers[condition] = truth
        return truth

    def _ready(self) -> PathSolver:
        from ...smt import PathSolver

        if self._solver is None:
            self._solver = PathSolver()
        for condition, truth in self._waiting:
            self._solver.assume(_claim(condition, truth))
        self._waiting.clear()
        return self._solver


def _claim(condition: Condition, truth: bool) -> Claim:
    from ...smt import Claim

    if condition.relation == "ne":
        return Claim("eq", term_of(condition.form), condition.bound, not truth)
    return Claim(condition.relation, term_of(condition.form), condition.bound, truth)


def term_of(form: Form) -> Term:
    """Return a form as a term of the solver."""
    from ...smt import Sum

    return Sum(tuple((factor, _atom(name)) for name, factor in form.terms), form.constant)


def _atom(name: Atom) -> Term:
    from ...smt import Quotient, Remainder, Sum, Unsigned, Variable

    kind, *arguments = name
    if len(arguments) == 2:
        for value, amount in (arguments, arguments[::-1]):
            if not isinstance(amount, int) or not isinstance(value, tuple):
                continue
            inner = _argument(value)
            if kind == "sar" and 0 <= amount < 32:
                return Quotient(inner, 1 << amount)
            if kind == "shr" and 0 <= amount < 32:
                return Quotient(Unsigned(inner), 1 << amount)
            if kind == "and" and amount & (amount + 1) == 0 and amount < 1 << 32:
                return Remainder(inner, amount + 1)
            cleared = (1 << 32) - (amount & 0xFFFFFFFF)
            if kind == "and" and cleared & (cleared - 1) == 0:
                return Sum(((1, inner), (-1, Remainder(inner, cleared))), 0)
            if kind in ("div", "rem") and amount > 0:
                return Quotient(inner, amount) if kind == "div" else Remainder(inner, amount)
    return Variable(show_atom(name), _LOW, _HIGH)


def _argument(value: tuple[object, ...]) -> Term:
    from ...smt import Sum

    if value[0] == "sum":
        _, terms, constant = value
        return Sum(tuple((factor, _atom(name)) for name, factor in terms), constant)  # type: ignore[attr-defined, arg-type]
    return _atom(value)
