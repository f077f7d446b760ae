"""Intervals with a residue keep all numbers that have it, and bounds that are possible."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from ptxcheck.protocols.automata.known_residues import Residue
from ptxcheck.protocols.product.congruences import Congruence, congruence_of
from ptxcheck.protocols.product.intervals import Interval
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import add, shift_right
from ptxcheck.protocols.symex.values.symbol import Form, atom

SIZE = atom(Kind.PARAM, "n", 0, 4)
NAME = SIZE.terms[0][0]
BOUNDS = some.one_of(some.none(), some.integers(-40, 40))
RANGE = range(-120, 120)


def congruences() -> some.SearchStrategy[Congruence]:
    return some.builds(
        Congruence,
        some.integers(4, 12),
        some.integers(-20, 20),
        some.integers(1, 3),
        some.one_of(some.none(), some.integers(-10, 10)),
    )


def is_in(known: Interval, number: int) -> bool:
    return (
        (known.low is None or known.low <= number)
        and (known.high is None or number <= known.high)
        and number not in known.excluded
    )


@given(congruences(), BOUNDS, BOUNDS, some.frozensets(some.integers(-40, 40), max_size=4))
def test_tightened(of: Congruence, low: int | None, high: int | None, excluded: frozenset[int]) -> None:
    known = Interval(low, high, excluded)
    tight = of.tightened(known)
    possible = [number for number in RANGE if is_in(known, number) and of.admits(number)]
    assert [number for number in RANGE if is_in(tight, number) and of.admits(number)] == possible
    if possible:
        assert tight.low is None or tight.low == possible[0]
        assert tight.high is None or tight.high == possible[-1]
    elif low is not None and high is not None:
        assert tight.is_empty


@given(some.integers(-300, 300), some.sampled_from([2, 4]), some.integers(0, 15), some.booleans())
def test_a_quotient(number: int, modulus: int, offset: int, truncates: bool) -> None:
    moved = add(SIZE, offset, 32)
    assert isinstance(moved, Form)
    sign = shift_right(moved, 31, 32, arithmetic=True)
    correction = shift_right(sign, 28, 32, arithmetic=False)
    dividend = add(moved, correction, 32) if truncates else moved
    quotient = shift_right(dividend, 4, 32, arithmetic=True)
    assert isinstance(quotient, Form)
    value = int((number + offset) / 16) if truncates else (number + offset) // 16
    for rest in range(modulus):
        found = congruence_of(SIZE.terms, {quotient.terms[0][0]: Residue(modulus, rest)})
        assert found is not None
        if value % modulus == rest:
            assert found.admits(number)
        elif number + offset >= 0:
            assert not found.admits(number)


def test_bounds_that_are_far_from_a_number_that_is_possible() -> None:
    """A quotient by 2^24 that is 3 modulo 4: numbers in question are not tried one by one."""
    of = Congruence(1 << 26, 3 << 24, 1 << 24, 0)
    assert of.tightened(Interval(5, (1 << 27) + 5)) == Interval(3 << 24, (1 << 27) - 1)


def test_sums_have_the_residue_of_what_all_have_in_common() -> None:
    other = atom(Kind.PARAM, "m", 0, 4).terms[0][0]
    residues = {NAME: Residue(4, 3), other: Residue(8, 5)}
    assert congruence_of(((NAME, 1), (other, 2)), residues) == Congruence(4, 1)
    assert congruence_of(((NAME, 1), (other, 1)), {NAME: Residue(4, 3)}) is None
    assert congruence_of(((NAME, 1),), {other: Residue(4, 3)}) is None
