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


def fields_of(form: Form, words: Sequence[int], bits: int) -> list[int] | None:
    """Return which fields of some words each field of a sum is the sum of: sets, as bits; None where it is no such sum.

    Words have fields of so many bits each, and no sum of fields is too large for one. Field f of the word at place p in
    `words` is bit `f * len(words) + p` of a set.
    """
    count = len(words)
    at = {each: place for place, each in enumerate(words)}
    found = [0] * (32 // bits)
    for begin, end, number in _stretches(form):
        if any(each not in at for each in range(begin, end)):
            return None
        members = 0
        for each in range(begin, end):
            members |= 1 << at[each]
        for by in range(len(found)):
            factor = number >> by * bits & (1 << bits) - 1
            if factor > 1:
                return None
            for field in range(len(found) - by) if factor else ():
                found[field + by] |= members << field * count
    return found


def are_exclusive_sums(sums: Sequence[int]) -> bool:
    """Tell whether sets of fields, that of each field, are those of all fields before it in some order.

    None has its own field: a sum that includes it, too, leaves no room for what is counted in the field.
    """
    order = sorted(range(len(sums)), key=lambda each: sums[each].bit_count())
    return not any(each >> place & 1 for place, each in enumerate(sums)) and all(
        not (sums[before] | 1 << before) & ~sums[behind] for before, behind in pairwise(order)
    )
