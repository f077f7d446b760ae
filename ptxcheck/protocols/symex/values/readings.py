"""How comparisons read symbols: as signed numbers, or as unsigned ones. Both are one integer in what decides.

Property: an atom that `BothReadings.note` has returned for none of some predicates is one integer in all of them.

Argument: `a < b` of two symbols is a comparison of integers (`lane_arithmetic`), each atom in it the signed number or
the unsigned one that the register holds. These are one number below 2^31, and two from there on: where an atom is
ordered both ways, `i < n` may hold for the one and not for the other.

An order of a symbol and a small number without a sign (`Kind.BELOW`), and equality with a number below 2^31, are exact
for both. One with a large number, a division, a shift that keeps the sign, and the sign alone, read a number, too.

Not covered: unsigned products whose high half is used, and bits other than the sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from .kinds import Kind
from .lane_arithmetic import ORDERS, UNSIGNED_ORDERS
from .recurrent_arithmetic import form_of
from .substitution import holds_64_bits
from .symbol import Atom, Form
from .traversal import walk
from .wraparound import may_be_negative

_HALF, _WIDE_HALF = 1 << 31, 1 << 63
_LARGE = 1 << 24
"""From here on a bound of unsigned numbers, or of quotients of them, may lie above all that are signed ones."""


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
    ((name, factor), *others) = terms
    number = -constant * factor
    if others or abs(factor) != 1 or 0 <= number < (_WIDE_HALF if holds_64_bits(name) else _HALF):
        return None
    return Reading.SIGNED if number < 0 else Reading.UNSIGNED


def _readings(name: Atom) -> Iterator[tuple[Atom, Reading]]:
    """Yield the atoms that an atom reads as numbers with a sign, or without one."""
    reading = reading_of(name)
    match name.inner:
        case (Kind.CMP, _, tuple(terms), *_) if reading is not None:
            yield from ((each, reading) for ordered, _ in terms for each in _chosen(ordered))
        case (Kind.BELOW, tuple(terms), int(), int(bound)) if bound >= _LARGE:
            yield from ((each, Reading.SIGNED) for each in walk(terms))
        case (Kind.DIV | Kind.REM, dividend, divisor, int(), signed):
            of_both = Reading.SIGNED if signed else Reading.UNSIGNED
            yield from ((each, of_both) for each in (*_terms(dividend), *_terms(divisor)))
        case (Kind.SAR, part, *_):
            yield from ((each, Reading.SIGNED) for each in _terms(part))
        case (Kind.SHR, part, int(amount), int(width)) if amount == width - 1:
            yield from ((each, Reading.SIGNED) for each in _terms(part))
        case (Kind.AND, int(mask), part) | (Kind.AND, part, int(mask)) if mask == _HALF:
            yield from ((each, Reading.SIGNED) for each in _terms(part))
        case _:
            return


def _terms(part: object) -> Iterator[Atom]:
    form = form_of(part)
    return iter(()) if form is None else (name for name, _ in form.terms)


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

    def note(self, truth: Form, is_positive: Callable[[Form], bool]) -> Iterator[Atom]:
        """Yield the atoms that a predicate reads in another way than one before, each once.

        Not those that were known not to be negative before they were read as unsigned numbers. What is known behind
        that tells nothing: `5 <= m` of unsigned numbers holds for negative ones.
        """
        if truth in self._seen:
            return
        self._seen.add(truth)
        for comparison in walk(truth.terms):
            for name, reading in _readings(comparison):
                before = self._read.get(name)
                self._read.setdefault(name, reading)
                if name in self._told:
                    continue
                if before is not Reading.UNSIGNED and is_positive(Form(((name, 1),))):
                    self._told.add(name)
                elif before is not None and before is not reading:
                    self._told.add(name)
                    if may_be_negative(name):
                        yield name


__all__ = ["BothReadings", "Reading", "reading_of"]
