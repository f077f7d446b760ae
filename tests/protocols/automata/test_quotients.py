"""Thresholds on quotients, against division by numbers."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.automata.quotients import least_quotient, undivided, undivided_truncated
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import add, key_of, multiply, shift_right, subtract
from ptxcheck.protocols.symex.values.symbol import Atom, Form, atom

SIZE = atom(Kind.PARAM, "size", 0, 4)


def rounded_up(size: Form, bits: int) -> Form:
    """`(size + 2^bits - 1) / 2^bits` as a compiler writes it for a signed number."""
    dividend = add(size, (1 << bits) - 1, 32)
    sign = shift_right(dividend, 31, 32, arithmetic=True)
    correction = shift_right(sign, 32 - bits, 32, arithmetic=False)
    found = shift_right(add(dividend, correction, 32), bits, 32, arithmetic=True)
    assert isinstance(found, Form)
    return found


def only_atom(form: Form) -> Atom:
    ((name, factor),) = form.terms
    assert (factor, form.constant) == (1, 0)
    return name


@pytest.mark.parametrize("bits", [1, 4, 6])
def test_a_quotient_that_is_rounded_towards_zero(bits: int) -> None:
    found = undivided(only_atom(rounded_up(SIZE, bits)), 1)
    assert found is not None
    dividend, divisor = found
    assert dividend.terms == SIZE.terms
    for size in range(-200, 200):
        number = size + dividend.constant
        quotient = int(number / divisor)  # towards zero
        for threshold in range(1, 9):
            assert (quotient < threshold) == (number < divisor * threshold)


def test_thresholds_that_a_negative_number_may_reach_do_not_carry_over() -> None:
    assert undivided(only_atom(rounded_up(SIZE, 4)), 0) is None


@pytest.mark.parametrize("least", [-7, 0, 1])
def test_a_quotient_that_is_rounded_down(least: int) -> None:
    shifted = shift_right(SIZE, 3, 32, arithmetic=True)
    assert isinstance(shifted, Form)
    assert undivided(only_atom(shifted), least) == (SIZE, 8)
    for size in range(-100, 100):
        for threshold in range(-7, 9):
            assert (size >> 3 < threshold) == (size < 8 * threshold)


def test_a_correction_of_another_number_is_none() -> None:
    other = atom(Kind.PARAM, "other", 0, 4)
    sign = shift_right(other, 31, 32, arithmetic=True)
    wrong = shift_right(add(SIZE, shift_right(sign, 28, 32, arithmetic=False), 32), 4, 32, arithmetic=True)
    assert isinstance(wrong, Form)
    found = undivided(only_atom(wrong), 1)
    assert found is None or found[0].terms != SIZE.terms


@pytest.mark.parametrize("bits", [1, 4])
def test_thresholds_that_are_not_positive(bits: int) -> None:
    found = undivided_truncated(only_atom(rounded_up(SIZE, bits)))
    assert found is not None
    dividend, divisor = found
    for size in range(-200, 200):
        number = size + dividend.constant
        for threshold in range(-8, 1):
            assert (int(number / divisor) < threshold) == (number < divisor * (threshold - 1) + 1)


def test_a_floor_is_not_rounded_towards_zero() -> None:
    shifted = shift_right(SIZE, 3, 32, arithmetic=True)
    assert isinstance(shifted, Form)
    assert undivided_truncated(only_atom(shifted)) is None


@pytest.mark.parametrize(("factor", "added", "bits"), [(128, 191, 6), (128, 0, 6), (64, 63, 4), (3, 7, 1)])
def test_the_least_of_a_quotient_of_places_in_the_grid(factor: int, added: int, bits: int) -> None:
    place = atom(Kind.SPECIAL, "%clusterid.x")
    total = add(multiply(place, factor, 32), added, 32)
    found = only_atom(Form(((Atom((Kind.SHR, key_of(total), bits, 32)), 1),)))
    assert least_quotient(found, {}) == min(factor * each + added >> bits for each in range(9))


def test_the_least_of_a_quotient_of_a_size_that_is_known() -> None:
    (name, _), *_ = SIZE.terms
    found = only_atom(rounded_up(SIZE, 6))
    assert least_quotient(found, {}) is None, "it may be negative"
    for least in (0, 1, 64, 65, 129):
        assert least_quotient(found, {name: least}) == -(-least // 64)


def test_a_quotient_of_what_is_taken_away_has_no_least() -> None:
    total = subtract(191, atom(Kind.SPECIAL, "%clusterid.x"), 32)
    assert least_quotient(Atom((Kind.SAR, key_of(total), 6, 32)), {}) is None
