"""How comparisons read symbols: as signed numbers, or as unsigned ones. Both are one integer in what decides.

Property: an atom that `BothReadings.note` has returned for none of some predicates is one integer in all of them.

Argument: `a < b` of two symbols is a comparison of integers (`lane_arithmetic`), each atom in it the signed number or
the unsigned one that the register holds. These are one number below 2^31, and two from there on: where an atom is
ordered both ways, `i < n` may hold for the one and not for the other.

Not covered: equality with a number below 2^31, and an unsigned order of a symbol and a number (`Kind.BELOW`), are exact
for both readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from .kinds import Kind
from .lane_arithmetic import ORDERS, UNSIGNED_ORDERS
from .symbol import Atom, Form
from .traversal import walk
from .wraparound import may_be_negative

_HALF = 1 << 31


class Reading(Enum):
    """How a comparison reads a number."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"


def reading_of(comparison: Atom) -> Reading | None:
    """Return how an order of two symbols reads them, None for anything else.

    That a symbol is a negative number, or one that is too large for a signed one, reads it, too.
    """
    if comparison.inner_kind is not Kind.CMP:
        return None
    if comparison.inner[1] not in ORDERS:
        return _of_equality(comparison)
    return Reading.UNSIGNED if comparison.inner[1] in UNSIGNED_ORDERS else Reading.SIGNED


def _of_equality(comparison: Atom) -> Reading | None:
    terms, constant = comparison.inner[2:4]
    assert isinstance(terms, tuple)
    assert isinstance(constant, int)
    ((_, factor), *others) = terms
    number = -constant * factor
    if others or abs(factor) != 1 or 0 <= number < _HALF:
        return None
    return Reading.SIGNED if number < 0 else Reading.UNSIGNED


def _chosen(name: Atom) -> Iterator[Atom]:
    """Yield an atom, and those of which it is one, by choices."""
    yield name
    if name.inner_kind is Kind.SELP:
        for part in name.inner[2:]:
            if isinstance(part, Atom):
                yield from _chosen(part)


class BothReadings:
    """The readings of the atoms that predicates order."""

    def __init__(self) -> None:
        self._read: dict[Atom, Reading] = {}
        self._told: set[Atom] = set()
        self._seen: set[Form] = set()

    def note(self, truth: Form) -> Iterator[Atom]:
        """Yield the atoms that a predicate reads in another way than one before, each once."""
        if truth in self._seen:
            return
        self._seen.add(truth)
        for comparison in walk(truth.terms):
            reading = reading_of(comparison)
            if reading is None:
                continue
            (terms, *_) = comparison.inner[2:]
            assert isinstance(terms, tuple)
            for name in (each for ordered, _ in terms for each in _chosen(ordered)):
                if self._read.setdefault(name, reading) is not reading and name not in self._told:
                    self._told.add(name)
                    if may_be_negative(name):
                        yield name


__all__ = ["BothReadings", "Reading", "reading_of"]
