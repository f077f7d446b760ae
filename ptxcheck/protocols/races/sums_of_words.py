"""Sums of words of shared memory, as lanes hold them while they compute prefix sums.

Property: a `Form` stands for a sum of words, each times a number, modulo 2^32.

Argument: the numbers are kept by where they change along the words, so that a sum of words that lie side by side has
two entries, however long it is (the interval of summations of Chong, Donaldson, Ketema, POPL 2014, with factors).

Not covered: constants that are not 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

Form = Mapping[int, int]
"""By word, by how much its number is more than that of the word before."""
_MODULUS = 1 << 32
NOTHING: Form = {}


def word(index: int) -> Form:
    """Return one word."""
    return {index: 1, index + 1: _MODULUS - 1}


def added(one: Form, two: Form, factor: int = 1) -> Form:
    """Return the sum of two, the second one times a number."""
    found = dict(one)
    for place, step in two.items():
        changed = (found.get(place, 0) + step * factor) % _MODULUS
        if changed:
            found[place] = changed
        else:
            found.pop(place, None)
    return found


def _stretches(form: Form) -> Iterator[tuple[int, int, int]]:
    """Yield the words that have a number other than 0: from, to, and the number."""
    places = sorted(form)
    number = 0
    for place, following in pairwise(places):
        number = (number + form[place]) % _MODULUS
        if number:
            yield place, following, number


class Words:
    """Words that have fields of so many bits each, and no sum of fields is too large for one. `indices` ascend."""

    def __init__(self, indices: Sequence[int], bits: int) -> None:
        self._at = {each: place for place, each in enumerate(indices)}
        self._bits = bits

    def fields_of(self, form: Form) -> list[int] | None:
        """Return which fields of the words each field of a sum is the sum of: sets, as bits; None if it is no such sum.

        Field f of the word at place p is bit `f * (number of words) + p` of a set.
        """
        found = [0] * (32 // self._bits)
        for begin, end, number in _stretches(form):
            members = self._members(begin, end)
            if members is None:
                return None
            for by in range(len(found)):
                factor = number >> by * self._bits & (1 << self._bits) - 1
                if factor > 1:
                    return None
                for field in range(len(found) - by) if factor else ():
                    found[field + by] |= members << field * len(self._at)
        return found

    def _members(self, begin: int, end: int) -> int | None:
        """Return the places of words side by side, as bits; None where they are not all here."""
        first, last = self._at.get(begin), self._at.get(end - 1)
        if first is None or last is None or last - first != end - 1 - begin:
            return None
        return (1 << end - begin) - 1 << first


def are_exclusive_sums(sums: Sequence[int]) -> bool:
    """Tell whether sets of fields, that of each field, are those of all fields before it in some order.

    None has its own field: a sum that includes it, too, leaves no room for what is counted in the field.
    """
    order = sorted(range(len(sums)), key=lambda each: sums[each].bit_count())
    return not any(each >> place & 1 for place, each in enumerate(sums)) and all(
        not (sums[before] | 1 << before) & ~sums[behind] for before, behind in pairwise(order)
    )
