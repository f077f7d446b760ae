"""Intervals of terms: what claims about parts of a term say of it, without a solver.

Property: when all claims that were noted hold, each term lies in its interval.

Argument: interval arithmetic from variables up; a claim that was noted narrows the interval of its term.

Not covered: relations between parts: an interval may be too wide, never too narrow.
"""

from __future__ import annotations

from typing import TypeAlias

from ....terms.integers import (
    Choice,
    Claim,
    Quotient,
    Remainder,
    Sum,
    Term,
    Unsigned,
    Variable,
)

Interval: TypeAlias = tuple[int, int]
"""Least and greatest number."""
_NO_LIMIT = 1 << 80


class Bounds:
    """What the decisions of a run say of terms."""

    def __init__(self) -> None:
        self._noted: dict[Term, Interval] = {}
        self._known: dict[Term, Interval] = {}

    def note(self, claim: Claim) -> None:
        """Take a claim for true."""
        term, bound = claim.term, claim.bound
        low, high = -_NO_LIMIT, _NO_LIMIT
        if claim.relation == "lt":
            low, high = (low, bound - 1) if claim.holds else (bound, high)
        elif claim.holds:
            low = high = bound
        else:
            least, most = self.of(term)
            low = least + 1 if least == bound else low
            high = most - 1 if most == bound else high
        if (low, high) != (-_NO_LIMIT, _NO_LIMIT):
            self._narrow(term, low, high)

    def implied(self, claim: Claim) -> bool | None:
        """Tell whether a claim holds, None when that is not known."""
        low, high = self.of(claim.term)
        if low > high:
            return None
        if claim.relation == "lt":
            truth = True if high < claim.bound else False if low >= claim.bound else None
        elif low == high == claim.bound:
            truth = True
        else:
            truth = None if low <= claim.bound <= high else False
        return truth if truth is None else truth == claim.holds

    def only(self, term: Term) -> int | None:
        """Return the one number that a term can be, None when that is not known."""
        low, high = self.of(term)
        return low if low == high else None

    def of(self, term: Term) -> Interval:
        """Return between which numbers a term lies."""
        waiting = [term]
        while waiting:
            at = waiting[-1]
            missing = (
                [part for part in _parts(at) if part not in self._known] if at not in self._known else []
            )
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if at not in self._known:
                low, high = self._computed(at)
                noted = self._noted.get(at)
                if noted is not None:
                    low, high = max(low, noted[0]), min(high, noted[1])
                self._known[at] = low, high
        return self._known[term]

    def _narrow(self, term: Term, low: int, high: int) -> None:
        if isinstance(term, Sum):
            low, high = low - term.constant, high - term.constant
            if len(term.terms) == 1:
                (factor, inner), *_ = term.terms
                ends = (
                    (-(-low // factor), high // factor) if factor > 0 else (-(-high // factor), low // factor)
                )
                self._narrow(inner, *ends)
                return
            term = Sum(term.terms, 0)
        before = self._noted.get(term, (-_NO_LIMIT, _NO_LIMIT))
        self._noted[term] = max(before[0], low), min(before[1], high)
        self._known.clear()

    def _computed(self, term: Term) -> Interval:
        """Return between which numbers a term lies whose parts are known."""
        known = self._known
        match term:
            case Variable(low=low, high=high):
                return low, high
            case Sum(terms=parts, constant=constant) if constant:
                low, high = known[Sum(parts, 0)]
                return low + constant, high + constant
            case Sum(terms=parts):
                ends = [sorted(factor * end for end in known[part]) for factor, part in parts]
                return sum(low for low, _ in ends), sum(high for _, high in ends)
            case Quotient(term=inner, divisor=divisor):
                low, high = known[inner]
                return low // divisor, high // divisor
            case Remainder(term=inner, divisor=divisor):
                low, high = known[inner]
                if low // divisor == high // divisor:
                    return low % divisor, high % divisor
                return 0, divisor - 1
            case Unsigned(term=inner, bits=bits):
                low, high = known[inner]
                if low >= 0:
                    return low, high
                wrap = 1 << bits
                return (low + wrap, high + wrap) if high < 0 else (0, max(wrap - 1, high))
            case Choice(chosen=chosen, other=other):
                one, two = known[chosen], known[other]
                return min(one[0], two[0]), max(one[1], two[1])


def _parts(term: Term) -> tuple[Term, ...]:
    match term:
        case Variable():
            return ()
        case Sum(terms=parts, constant=constant):
            return (Sum(parts, 0),) if constant else tuple(part for _, part in parts)
        case Quotient(term=inner) | Remainder(term=inner) | Unsigned(term=inner):
            return (inner,)
        case Choice(chosen=chosen, other=other):
            return chosen, other
