"""What is said of the bits of a number that loops count is what numbers say."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values import recurrent_arithmetic as recurrent
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import Form, atom

ROUND = atom(Kind.ORDINAL, 1).terms[0][0]
FACTORS = some.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 64, 96])
CONSTANTS = some.integers(0, 500)
TURNS = some.integers(0, 1000)


def _at(found: Form | int | None, turn: int) -> int | None:
    if not isinstance(found, Form):
        return found
    return found.constant + sum(factor * turn for _, factor in found.terms)


@given(FACTORS, CONSTANTS, TURNS, some.integers(1, 255))
def test_low_bits(factor: int, constant: int, turn: int, mask: int) -> None:
    found = _at(recurrent.masked(Form(((ROUND, factor),), constant), mask), turn)
    assert found is None or found == factor * turn + constant & mask


@given(FACTORS, CONSTANTS, TURNS, some.integers(1, 7))
def test_high_bits_alone(factor: int, constant: int, turn: int, bits: int) -> None:
    mask = (1 << 32) - (1 << bits)
    found = _at(recurrent.masked(Form(((ROUND, factor),), constant), mask), turn)
    assert found is None or found == factor * turn + constant & mask


@given(FACTORS, CONSTANTS, TURNS, some.integers(0, 63))
def test_toggled_bits(factor: int, constant: int, turn: int, bits: int) -> None:
    found = _at(recurrent.with_bits(Op.XOR, Form(((ROUND, factor),), constant), bits), turn)
    assert found is None or found == factor * turn + constant ^ bits


@given(FACTORS, CONSTANTS, TURNS, some.integers(0, 63))
def test_bits_that_are_set(factor: int, constant: int, turn: int, bits: int) -> None:
    found = _at(recurrent.with_bits(Op.OR, Form(((ROUND, factor),), constant), bits), turn)
    assert found is None or found == (factor * turn + constant) | bits
    assert factor % 64 or found is not None


@pytest.mark.parametrize("divisor", [3, 5, 6, 9, 10, 11, 12, 13])
@given(constant=CONSTANTS, turn=TURNS)
def test_signed_products_that_divide(divisor: int, constant: int, turn: int) -> None:
    shift = divisor.bit_length() - 2
    multiplier = (1 << 32 + shift) // divisor + 1
    whole = Form(((ROUND, 4 * divisor),), constant)
    high = lanes.multiply_high(whole, multiplier, 32, signed_operands=True)
    assert lanes.shift_right(high, 31, 32, arithmetic=False) == 0
    quotient = lanes.shift_right(high, shift, 32, arithmetic=True)
    assert not isinstance(quotient, np.ndarray)
    assert _at(quotient, turn) == (4 * divisor * turn + constant) // divisor
    part = lanes.multiply_high(Form(((ROUND, 4),), constant), multiplier, 32, signed_operands=True)
    asked = lanes.shift_right(part, shift, 32, arithmetic=True)
    assert isinstance(asked, Form)
    assert recurrent.period(asked) == divisor // gcd(divisor, 4)


def test_a_signed_product_of_what_may_be_negative_is_no_quotient() -> None:
    for number in (Form(((ROUND, -15),), 40), Form(((ROUND, 15),), -1)):
        high = lanes.multiply_high(number, 0x66666667, 32, signed_operands=True)
        assert isinstance(high, Form)
        assert recurrent.shifted(high, 1, 32, arithmetic=True) is None
        assert recurrent.shifted(high, 31, 32, arithmetic=False) is None


@pytest.mark.parametrize("divisor", [3, 5, 6, 7, 9, 11, 12, 13])
@pytest.mark.parametrize("shift", [0, 1, 2, 3])
@given(constant=CONSTANTS, turn=TURNS)
def test_products_that_divide(divisor: int, shift: int, constant: int, turn: int) -> None:
    factor = -(-(1 << 32 + shift) // divisor) & 0xFFFFFFFF
    form = Form(((ROUND, divisor),), constant)
    product = Form(((atom(Kind.MULHI, _key(form), factor, 32, 0).terms[0][0], 1),))
    found = _at(recurrent.shifted(product, shift, 32, arithmetic=False), turn) if shift else None
    assert found is None or found == (divisor * turn + constant) * factor >> 32 + shift


def _key(form: Form) -> object:
    return atom(Kind.SUM, form.terms, form.constant).terms[0][0]


def test_periods_of_rings() -> None:
    stage = atom(Kind.AND, 7, ROUND)
    parity = atom(Kind.AND, 1, atom(Kind.SHR, ROUND, 3, 32).terms[0][0])
    assert recurrent.period(stage) == 8
    assert recurrent.period(parity) == 16
    assert recurrent.period(atom(Kind.AND, 7, atom(Kind.PARAM, "n", 0, 4).terms[0][0])) == 1


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (0xFFFFFFFE, 2), (0xFFFFFFF8, 8), ((1 << 64) - 4, 4), (0xFFFFFFFF, 1),
        (0xFFFF0000, 1), (0xF0, 256), (0xFFFFFFFA, 1), (0x7FFFFFFE, 1),
    ],
)  # fmt: skip
def test_masks_that_keep_multiples(mask: int, expected: int) -> None:
    """What rounds leave of `7 * i` modulo 2, as compilers have it: `x - (x + (x >>> 31) & -2)`."""
    counted = lanes.multiply(Form(((ROUND, 1),)), 7, 32)
    assert isinstance(counted, Form)
    found = atom(Kind.AND, mask, lanes.key_of(counted))
    assert recurrent.period(found) == expected
    if expected > 1 and mask >= 1 << 31:
        known = recurrent.masked(Form(tuple((n, k * expected) for n, k in counted.terms), 5), mask)
        assert known == Form(tuple((n, k * expected) for n, k in counted.terms), 5 // expected * expected)


@given(
    FACTORS, CONSTANTS, TURNS, some.integers(1, 255), some.integers(0, 6), some.sampled_from([0xFF, 0xFFFF])
)
def test_bits_of_what_was_masked_and_shifted(
    factor: int, constant: int, turn: int, mask: int, amount: int, first: int
) -> None:
    inner = atom(Kind.AND, _key(Form(((ROUND, factor),), constant)), first)
    shifted = atom(Kind.SHR, inner.terms[0][0], amount, 16)
    found = recurrent.masked(shifted, mask)
    assert found in (None, (factor * turn + constant & first) >> amount & mask)


def test_bits_of_what_was_masked_and_shifted_are_found() -> None:
    inner = atom(Kind.AND, _key(Form(((ROUND, 8),), 6)), 0xFFFF)
    assert recurrent.masked(atom(Kind.SHR, inner.terms[0][0], 1, 16), 3) == 3


@pytest.mark.parametrize(("factor", "amount", "divisor"), [(0xAAAAAAAB, 33, 3), (0xCCCCCCCD, 34, 5)])
def test_the_period_of_a_quotient_by_a_wide_product(factor: int, amount: int, divisor: int) -> None:
    quotient = atom(Kind.SHR, _key(Form(((ROUND, factor),), factor)), amount, 64)
    assert recurrent.period(quotient) == divisor
    assert recurrent.period(atom(Kind.AND, quotient.terms[0][0], 1)) == 2 * divisor


def test_a_product_that_is_no_exact_division_is_none() -> None:
    """2^32 / 7, rounded up, is 3 / 7 too large."""
    factor = -(-(1 << 32) // 7)
    number = 7 * 613_566_755 + 6
    assert number * factor >> 32 != number // 7
    assert recurrent.shifted(Form(((ROUND, 7 * factor),), 0), 32, 64, arithmetic=False) is None


def divided(number: Form, divisor: int) -> Form | int | np.ndarray[Any, Any] | None:
    """Return the quotient as compilers compute it with a factor of 33 bits."""
    amount = divisor.bit_length() - 1
    factor = -(-(1 << 33 + amount) // divisor) - (1 << 32)
    if not 0 < factor < 1 << 32:
        return None
    high = lanes.shift_right(lanes.multiply(number, factor, 64), 32, 64, arithmetic=False)
    half = lanes.shift_right(lanes.subtract(number, high, 32), 1, 32, arithmetic=False)
    return lanes.shift_right(lanes.add(half, high, 32), amount, 32, arithmetic=False)


@pytest.mark.parametrize("divisor", [7, 14, 19, 21, 27, 28])
def test_a_quotient_by_a_factor_of_33_bits(divisor: int) -> None:
    number = Form(atom(Kind.PARAM, "n", 0, 4).terms, 5)
    found = divided(number, divisor)
    assert isinstance(found, Form)
    assert recurrent.quotient_of(found.terms[0][0]) == (number, divisor)
    for each in (0, 1, 6, 7, 8, 1000, (1 << 31) - 6):
        assert with_pins(found, {number.terms[0][0]: each}, 1) == (each + 5) // divisor


@given(FACTORS, CONSTANTS, TURNS)
def test_such_a_quotient_of_rounds(factor: int, constant: int, turn: int) -> None:
    found = divided(Form(((ROUND, 7 * factor),), constant), 7)
    assert _at(found, turn) == (7 * factor * turn + constant) // 7  # type: ignore[arg-type]


def test_no_residue_of_the_round_tells_of_a_multiple_of_a_size() -> None:
    size = atom(Kind.PARAM, "n", 0, 4)
    product = lanes.multiply(Form(((ROUND, 1),)), size, 64)
    moved = lanes.shift_right(lanes.add(product, 127, 32), 7, 32, arithmetic=True)
    assert isinstance(moved, Form)
    assert recurrent.period(moved) == 1
    alone = lanes.shift_right(lanes.add(Form(((ROUND, 1),)), 127, 32), 7, 32, arithmetic=True)
    assert isinstance(alone, Form)
    assert recurrent.period(alone) == 128


def test_what_is_no_quotient() -> None:
    number = atom(Kind.PARAM, "n", 0, 4)
    negative = lanes.multiply_high(number, 0xAAAAAAAB, 32, signed_operands=True)
    beyond = lanes.multiply(number, 0x38E38E39, 32)
    for value, amount in ((negative, 1), (beyond, 33)):
        for arithmetic in (False, True):
            found = lanes.shift_right(value, amount, 32, arithmetic=arithmetic)
            assert isinstance(found, Form)
            assert recurrent.quotient_of(found.terms[0][0]) is None
    turns = lanes.multiply_high(Form(((ROUND, 3),)), 0xAAAAAAAB, 32, signed_operands=True)
    found = lanes.shift_right(turns, 1, 32, arithmetic=False)
    assert isinstance(found, Form)
    assert found.terms[0][0].kind is Kind.SHR


@pytest.mark.parametrize(
    ("signed", "arithmetic", "of_words"), [(False, False, True), (True, True, False), (False, True, False)]
)
def test_quotients_of_any_word(signed: bool, arithmetic: bool, of_words: bool) -> None:
    factor = 0x38E38E39 if signed else 0xAAAAAAAB
    high = lanes.multiply_high(atom(Kind.PARAM, "n", 0, 4), factor, 32, signed_operands=signed)
    found = lanes.shift_right(high, 1, 32, arithmetic=arithmetic)
    assert isinstance(found, Form)
    quotient = found.terms[0][0]
    assert recurrent.quotient_of(quotient) == (atom(Kind.PARAM, "n", 0, 4), 9 if signed else 3)
    assert recurrent.is_of_words(quotient) is of_words
