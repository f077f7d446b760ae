"""The solver, behind a small door: nothing else imports z3 or pysmt. Imported only where a question needs it.

Terms are integers: variables, sums with integer coefficients, floor division and remainder by a positive number.
Every solver has a context of its own and a limit of effort; `None` means that it could not tell within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

_EFFORT = 400_000
"""Resource units of z3 for one question: a limit that, unlike time, is the same on every machine."""
_MODELS = 12
"""Assignments that answered earlier questions and are tried first for the next one."""
_REPAIRED = 3
_CHANGES = 4
"""How many of them are changed to answer it, and how often each."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer from `low` to `high`, both included."""

    name: str
    low: int
    high: int


class _Nested:
    """A term with terms inside, which hashes once."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            fields = tuple(getattr(self, name) for name in type(self).__slots__)
            object.__setattr__(self, "_hash", hash((type(self).__name__, fields)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Sum(_Nested):
    """`constant + Σ coefficient × term`."""

    terms: tuple[tuple[int, Term], ...]
    constant: int
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Quotient(_Nested):
    """`⌊term / divisor⌋` for a positive divisor."""

    term: Term
    divisor: int
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Remainder(_Nested):
    """`term mod divisor`, from 0 to divisor - 1."""

    term: Term
    divisor: int
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Unsigned(_Nested):
    """The pattern of a signed number in a register of 32 or 64 bits, read as unsigned."""

    term: Term
    bits: int = 32
    __hash__ = _Nested.__hash__


Term: TypeAlias = Variable | Sum | Quotient | Remainder | Unsigned


@dataclass(frozen=True, slots=True)
class Claim:
    """`term < bound`, `term == bound` (relation "lt", "eq"), or its negation."""

    relation: str
    term: Term
    bound: int
    holds: bool = True


class _Model:
    """Numbers for variables; those that it does not name are the ones closest to zero."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._values: dict[Term, int] = {}
        self._truths: dict[int, bool] = {}

    def holds(self, claim: Claim, number: int) -> bool:
        """Tell whether a claim is true; `number` is its own among all claims of the solver."""
        known = self._truths.get(number)
        if known is None:
            known = self._truths[number] = _is_true(claim, self.value(claim.term))
        return known

    def value(self, term: Term) -> int:
        """Return what a term is."""
        found = self._values.get(term)
        if found is None:
            found = self._values[term] = self._computed(term)
        return found

    def with_number(self, variable: Variable, number: int) -> _Model:
        """Return the model with another number for a variable."""
        return _Model({**self._numbers, variable.name: number})

    def nearest(self, claim: Claim, variable: Variable) -> int | None:
        """Return a number for a variable that makes a false claim true, close to the one it has; None if none is found.

        By bisection, as if the term grew or fell with the variable: the caller looks whether it is right.
        """

        def is_true(number: int) -> bool:
            return _is_true(claim, self.with_number(variable, number).value(claim.term))

        if claim.relation == "eq" and claim.holds:
            return self._solution(claim, variable)
        start = self.value(variable)
        for end in (variable.high, variable.low):
            if end == start or not is_true(end):
                continue
            wrong, right = start, end
            while abs(right - wrong) > 1:
                middle = (right + wrong) // 2
                wrong, right = (wrong, middle) if is_true(middle) else (middle, right)
            return right
        return None

    def _solution(self, claim: Claim, variable: Variable) -> int | None:
        def value(number: int) -> int:
            return self.with_number(variable, number).value(claim.term)

        low, high = variable.low, variable.high
        rises = value(high) >= value(low)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if (value(middle) >= claim.bound) == rises else (middle + 1, high)
        return low if value(low) == claim.bound else None

    def _computed(self, term: Term) -> int:
        match term:
            case Variable():
                return self._numbers.get(term.name, max(term.low, min(0, term.high)))
            case Sum():
                return term.constant + sum(factor * self.value(part) for factor, part in term.terms)
            case Quotient():
                return self.value(term.term) // term.divisor
            case Remainder():
                return self.value(term.term) % term.divisor
            case Unsigned():
                inner = self.value(term.term)
                return inner + (1 << term.bits) if inner < 0 else inner


def _is_true(claim: Claim, value: int) -> bool:
    return (value < claim.bound if claim.relation == "lt" else value == claim.bound) == claim.holds


def _variables_of(term: Term) -> Iterator[Variable]:
    match term:
        case Variable():
            yield term
        case Sum():
            for _, part in term.terms:
                yield from _variables_of(part)
        case _:
            yield from _variables_of(term.term)


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
        self._literals: list[Any] = []
        """For each claim, by its number, a boolean that implies it."""
        self._numbers: dict[Claim, int] = {}
        self._same: dict[int, tuple[Claim, int]] = {}
        """The same by identity, as callers ask with the same claims again and again."""
        self._models: list[_Model] = []
        """The latest one first."""
        self._assumed: list[Claim] = []

    def assume(self, claim: Claim) -> None:
        """Add a claim for good."""
        self._solver.add(self._claim(claim))
        self._models.clear()
        self._assumed.append(claim)

    def possible(self, claims: Sequence[Claim]) -> bool | None:
        """Tell whether the claims can hold together; None when that was not decided within the effort."""
        if self._find_model(claims) is not None:
            return True
        answer = self._solver.check(*[self._literal(claim) for claim in claims])
        if answer == self._z3.unknown:
            return None
        if answer == self._z3.sat:
            self._keep_model(claims)
            return True
        return False

    def example(self, claims: Sequence[Claim], term: Term) -> int | None:
        """Return a number that a term may be when the claims hold, None when none was found."""
        model = self._find_model(claims)
        if model is not None:
            return model.value(term)
        built = self._term(term)
        if self._solver.check(*[self._literal(claim) for claim in claims]) != self._z3.sat:
            return None
        number = self._solver.model().eval(built, model_completion=True)
        self._keep_model(claims)
        return int(number.as_long()) if self._z3.is_int_value(number) else None

    def _find_model(self, claims: Sequence[Claim]) -> _Model | None:
        """Return an earlier answer that is one to these claims too, as it is or with a number or two changed."""
        numbered = [(claim, self._number(claim)) for claim in claims]
        for model in self._models:
            if all(model.holds(claim, number) for claim, number in reversed(numbered)):
                self._models.remove(model)
                self._keep(model)
                return model
        for model in self._models[:_REPAIRED]:
            repaired = self._repaired(model, numbered)
            if repaired is not None:
                self._keep(repaired)
                return repaired
        return None

    def _repaired(self, model: _Model, numbered: Sequence[tuple[Claim, int]]) -> _Model | None:
        """Return a model of the claims that differs in some numbers, None when none is found."""
        for _ in range(_CHANGES):
            claim = next((each for each, number in reversed(numbered) if not model.holds(each, number)), None)
            if claim is None:
                return (
                    model if all(_is_true(each, model.value(each.term)) for each in self._assumed) else None
                )
            changed = [
                model.with_number(variable, number)
                for variable in dict.fromkeys(_variables_of(claim.term))
                if (number := model.nearest(claim, variable)) is not None
            ]
            if not changed:
                return None
            model = min(changed, key=lambda each: sum(not each.holds(c, number) for c, number in numbered))
        return None

    def _keep_model(self, claims: Sequence[Claim]) -> None:
        found = self._solver.model()
        numbers = {
            variable.name: value.as_long()
            for variable, built in self._variables.items()
            if (value := found[built]) is not None
        }
        model = _Model(numbers)
        if all(_is_true(claim, model.value(claim.term)) for claim in (*self._assumed, *claims)):
            self._keep(model)

    def _keep(self, model: _Model) -> None:
        self._models.insert(0, model)
        del self._models[_MODELS:]

    def _number(self, claim: Claim) -> int:
        """Return the number of a claim among all that were asked about; it has a literal from then on."""
        known = self._same.get(id(claim))
        if known is not None:
            return known[1]
        number = self._numbers.get(claim)
        if number is None:
            number = self._numbers[claim] = len(self._literals)
            literal = self._z3.Bool(f"claim!{number}", ctx=self._context)
            self._literals.append(literal)
            self._solver.add(self._z3.Implies(literal, self._claim(claim), ctx=self._context))
        self._same[id(claim)] = claim, number
        return number

    def _literal(self, claim: Claim) -> Any:
        """Return a boolean that implies the claim."""
        return self._literals[self._number(claim)]

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
                self._variables[term] = variable
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
