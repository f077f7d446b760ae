"""Terms of integers: what the solver is asked about, and how to compute it.

Variables, sums with integer coefficients, floor division and remainder by a positive number, choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

_SIGNS = {("lt", True): "<", ("lt", False): ">=", ("eq", True): "==", ("eq", False): "!="}
"""Claims of a relation that holds, or does not, as operators."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer from `low` to `high`, both included."""

    name: str
    low: int
    high: int

    @property
    def closest_to_zero(self) -> int:
        """The number that it has where nothing says otherwise."""
        return max(self.low, min(0, self.high))


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
    """The pattern of a signed number in a register of 32 or 64 bits, read as unsigned; the term is in that range."""

    term: Term
    bits: int = 32
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Choice(_Nested):
    """`chosen` where a claim holds, else `other`."""

    claim: Claim
    chosen: Term
    other: Term
    __hash__ = _Nested.__hash__


Term: TypeAlias = Variable | Sum | Quotient | Remainder | Unsigned | Choice


@dataclass(frozen=True, slots=True)
class Claim:
    """`term < bound`, `term == bound` (relation "lt", "eq"), or its negation."""

    relation: str
    term: Term
    bound: int
    holds: bool = True


Numbers: TypeAlias = Mapping[str, int]
Evaluate: TypeAlias = Callable[[Numbers], int]
"""Returns what a term is for numbers of its variables, by their names; one that is not named is the closest to zero."""


def slopes_of(term: Term) -> dict[str, int]:
    """Return by how much a term grows with a variable, for those in which it is linear."""
    if isinstance(term, Variable):
        return {term.name: 1}
    if not isinstance(term, Sum):
        return {}
    found: dict[str, int] = {}
    inside: set[str] = set()
    for factor, part in term.terms:
        if isinstance(part, Variable):
            found[part.name] = found.get(part.name, 0) + factor
        else:
            inside.update(variable.name for variable in variables_of(part))
    return {name: slope for name, slope in found.items() if slope and name not in inside}


def evaluator(term: Term) -> Evaluate:
    """Return how to compute a term: a function of its own, as the same terms are computed again and again.

    It is made when it is first needed.
    """
    made: list[Evaluate] = []

    def evaluate(numbers: Numbers) -> int:
        if not made:
            made.append(_function(term))
        return made[0](numbers)

    return evaluate


def _function(term: Term) -> Evaluate:
    """Return a term as a function: a line for each part of it. Names of variables are the only text in it."""
    places: dict[Term, int] = {}
    order = in_order(term, places)
    lines = [f"v{place} = {_expression(each, places)}" for place, each in enumerate(order)]
    text = "\n    ".join(("def function(numbers):", "get = numbers.get", *lines, f"return v{len(order) - 1}"))
    names: dict[str, Evaluate] = {}
    exec(compile(text, "<term>", "exec"), {}, names)
    return names["function"]


def _parts(term: Term) -> tuple[Term, ...]:
    """Return the terms that a term is made of."""
    match term:
        case Variable():
            return ()
        case Sum():
            return tuple(part for _, part in term.terms)
        case Quotient() | Remainder() | Unsigned():
            return (term.term,)
        case Choice():
            return term.claim.term, term.chosen, term.other


def in_order(term: Term, places: dict[Term, int]) -> list[Term]:
    """Return what a term is made of, each part once and before what it is in; `places` gets where each stands."""
    order: list[Term] = []
    waiting: list[tuple[Term, bool]] = [(term, False)]
    while waiting:
        each, is_ready = waiting.pop()
        if each in places:
            continue
        if is_ready:
            places[each] = len(order)
            order.append(each)
        else:
            waiting.append((each, True))
            waiting.extend((part, False) for part in reversed(_parts(each)))
    return order


def _expression(term: Term, places: Mapping[Term, int]) -> str:
    """Return what computes a term from the values of its parts."""
    match term:
        case Variable(name=name):
            return f"get({name!r}, {term.closest_to_zero})"
        case Sum(constant=constant):
            scaled = (f"{factor} * v{places[part]}" for factor, part in term.terms)
            return " + ".join((str(constant), *scaled))
        case Quotient(divisor=divisor):
            return f"v{places[term.term]} // {divisor}"
        case Remainder(divisor=divisor):
            return f"v{places[term.term]} % {divisor}"
        case Unsigned(bits=bits):
            value = f"v{places[term.term]}"
            return f"{value} + {1 << bits} if {value} < 0 else {value}"
        case Choice(claim=claim):
            asked, chosen, other = (f"v{places[part]}" for part in _parts(term))
            return f"{chosen} if {asked} {_SIGNS[claim.relation, claim.holds]} {claim.bound} else {other}"


def is_true(claim: Claim, value: int) -> bool:
    """Tell whether a claim holds where its term has a value."""
    return (value < claim.bound if claim.relation == "lt" else value == claim.bound) == claim.holds


def variables_of(term: Term) -> Iterator[Variable]:
    """Yield the variables in a term, each once."""
    return (each for each in in_order(term, {}) if isinstance(each, Variable))
