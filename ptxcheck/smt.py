"""The solver, behind a small door: nothing else imports z3 or pysmt. Imported only where a question needs it.

Terms are integers: variables, sums with integer coefficients, floor division and remainder by a positive number.
Every solver has a context of its own and a limit of effort; `None` means that it could not tell within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

_EFFORT = 400_000
"""Resource units of z3 for one question: a limit that, unlike time, is the same on every machine."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer from `low` to `high`, both included."""

    name: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant + Σ coefficient × term`."""

    terms: tuple[tuple[int, Term], ...]
    constant: int


@dataclass(frozen=True, slots=True)
class Quotient:
    """`⌊term / divisor⌋` for a positive divisor."""

    term: Term
    divisor: int


@dataclass(frozen=True, slots=True)
class Remainder:
    """`term mod divisor`, from 0 to divisor - 1."""

    term: Term
    divisor: int


@dataclass(frozen=True, slots=True)
class Unsigned:
    """The pattern of a signed number in a register of 32 or 64 bits, read as unsigned."""

    term: Term
    bits: int = 32


Term: TypeAlias = Variable | Sum | Quotient | Remainder | Unsigned


@dataclass(frozen=True, slots=True)
class Claim:
    """`term < bound`, `term == bound` (relation "lt", "eq"), or its negation."""

    relation: str
    term: Term
    bound: int
    holds: bool = True


class PathSolver:
    """Asks whether claims can hold together. What was learned for one question serves the next."""

    def __init__(self) -> None:
        import z3

        self._z3: Any = z3
        self._context: Any = z3.Context()
        self._solver: Any = z3.SolverFor("QF_LIA", ctx=self._context)
        self._solver.set("random_seed", 1)
        self._solver.set("rlimit", _EFFORT)
        self._variables: dict[Variable, Any] = {}
        self._terms: dict[Term, Any] = {}
        self._literals: dict[Claim, Any] = {}

    def assume(self, claim: Claim) -> None:
        """Add a claim for good."""
        self._solver.add(self._claim(claim))

    def possible(self, claims: Sequence[Claim]) -> bool | None:
        """Tell whether the claims can hold together; None when that was not decided within the effort."""
        answer = self._solver.check(*[self._literal(claim) for claim in claims])
        if answer == self._z3.unknown:
            return None
        return bool(answer == self._z3.sat)

    def example(self, claims: Sequence[Claim], term: Term) -> int | None:
        """Return a number that a term may be when the claims hold, None when none was found."""
        built = self._term(term)
        if self._solver.check(*[self._literal(claim) for claim in claims]) != self._z3.sat:
            return None
        number = self._solver.model().eval(built, model_completion=True)
        return int(number.as_long()) if self._z3.is_int_value(number) else None

    def _literal(self, claim: Claim) -> Any:
        """Return a boolean that implies the claim."""
        literal = self._literals.get(claim)
        if literal is None:
            formula = self._claim(claim)
            literal = self._z3.Bool(f"claim!{len(self._literals)}", ctx=self._context)
            self._literals[claim] = literal
            self._solver.add(self._z3.Implies(literal, formula, ctx=self._context))
        return literal

    def _claim(self, claim: Claim) -> Any:
        term = self._term(claim.term)
        formula = term < claim.bound if claim.relation == "lt" else term == claim.bound
        return formula if claim.holds else self._z3.Not(formula)

    def _term(self, term: Term) -> Any:
        built = self._terms.get(term)
        if built is None:
            built = self._terms[term] = self._build(term)
        return built

    def _build(self, term: Term) -> Any:
        z3 = self._z3
        match term:
            case Variable():
                variable = z3.Int(term.name, ctx=self._context)
                self._solver.add(variable >= term.low, variable <= term.high)
                return variable
            case Sum():
                total = z3.IntVal(term.constant, ctx=self._context)
                for factor, part in term.terms:
                    total = total + factor * self._term(part)
                return total
            case Quotient():
                return self._divided(term.term, term.divisor)[0]
            case Remainder():
                return self._divided(term.term, term.divisor)[1]
            case Unsigned():
                inner = self._term(term.term)
                return z3.If(inner < 0, inner + (1 << term.bits), inner)

    def _divided(self, term: Term, divisor: int) -> tuple[Any, Any]:
        inner = self._term(term)
        return inner / divisor, inner % divisor
