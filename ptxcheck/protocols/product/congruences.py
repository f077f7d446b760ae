"""Numbers that a direction can be, where residues of what the host passes are known.

Property: `Congruence.tightened` keeps all numbers of an interval that the residues leave possible.

Argument: a sum of multiples `f * x` with `x = r` modulo m is the sum of `f * r` modulo the greatest common divisor of
all `f * m`. A quotient `(x + c) / d` of a number that is not negative is r modulo m where `x + c` is in one of the
intervals of d numbers that begin at `d * r` modulo `d * m`.

Not covered: directions with a number of which no residue is known, and quotients of negative numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from ..automata.known_residues import Residue
from ..automata.quotients import undivided, undivided_natural
from ..symex.values.symbol import Atom
from .intervals import Interval
from .questions import Below, Terms


@dataclass(frozen=True, slots=True)
class Congruence:
    """A number is one of `length` numbers from `first` on, modulo `modulus`."""

    modulus: int
    first: int
    length: int = 1
    least: int | None = None
    """Nothing is said of numbers below it; None where it holds for all."""

    def admits(self, number: int) -> bool:
        is_free = self.least is not None and number < self.least
        return is_free or (number - self.first) % self.modulus < self.length

    def tightened(self, known: Interval) -> Interval:
        low, high = known.low, known.high
        if low is not None:
            low = self._up(low)
            while low in known.excluded:
                low = self._up(low + 1)
        if high is not None:
            high = self._down(high)
            while high in known.excluded:
                high = self._down(high - 1)
        return Interval(low, high, frozenset(filter(self.admits, known.excluded))).tight()

    def _up(self, number: int) -> int:
        """Return the least number from one on that is admitted."""
        return number if self.admits(number) else number + self.modulus - (number - self.first) % self.modulus

    def _down(self, number: int) -> int:
        """Return the largest number up to one that is admitted."""
        if self.admits(number):
            return number
        found = number - (number - self.first) % self.modulus + self.length - 1
        return found if self.least is None else max(found, self.least - 1)


def congruence_of(terms: Terms, residues: Mapping[Atom, Residue]) -> Congruence | None:
    """Return the residue of a direction, None where nothing is known of it."""
    if terms and all(name in residues for name, _ in terms):
        modulus = gcd(*(factor * residues[name].modulus for name, factor in terms))
        rest = sum(factor * residues[name].rest for name, factor in terms)
        return Congruence(modulus, rest % modulus) if modulus > 1 else None
    for name in sorted(residues, key=lambda each: each.digest):
        divided = undivided(name, 1) or undivided_natural(name)
        if divided is None or divided[0].terms != terms:
            continue
        (dividend, divisor), residue = divided, residues[name]
        offset = dividend.constant
        return Congruence(
            divisor * residue.modulus, divisor * residue.rest - offset, length=divisor, least=-offset
        )
    return None


def comes_to_equal(asked: Below, residues: Mapping[Atom, Residue]) -> bool:
    """Tell whether rounds count down one size, which is a multiple of their step, until nothing is left."""
    congruence = congruence_of(asked.terms, residues) if asked.equal and len(asked.terms) == 1 else None
    return congruence is not None and all(slope % congruence.modulus == 0 for _, slope in asked.slopes)
