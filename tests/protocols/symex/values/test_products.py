"""Products of symbols: one name for one number, and the number that the instructions give."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom

X, Y, Z = (atom(Kind.PARAM, name, 0, 8) for name in "xyz")
WORD = (1 << 32) - 1


def number(value: Value, x: int, y: int, z: int) -> int:
    """Return what a value is for three numbers of 32 bits."""
    pins = {symbol.terms[0][0]: each for symbol, each in ((X, x), (Y, y), (Z, z))}
    found = with_pins(value, pins, 1) if isinstance(value, Form) else value
    assert isinstance(found, int)
    return found & WORD


def quotient(x: Value, y: Value, *, signed: bool) -> Value:
    return lanes.divide(x, y, 32, signed_operands=signed)


@pytest.mark.parametrize("signed", [False, True])
def test_what_is_left_of_a_division_has_one_name(signed: bool) -> None:
    rest = lanes.remainder(X, Y, 32, signed_operands=signed)
    for product in (
        lanes.multiply(quotient(X, Y, signed=signed), Y, 32),
        lanes.multiply(Y, quotient(X, Y, signed=signed), 32),
    ):
        assert lanes.subtract(X, product, 32) == rest
    sum_of_two = lanes.add(X, Z, 32)
    rest = lanes.remainder(sum_of_two, Y, 32, signed_operands=signed)
    product = lanes.multiply(quotient(sum_of_two, Y, signed=signed), Y, 32)
    assert lanes.subtract(sum_of_two, product, 32) == rest


def test_other_products_of_quotients_are_no_rests() -> None:
    rest = lanes.remainder(X, Y, 32, signed_operands=False)
    others = [
        lanes.multiply(quotient(X, Y, signed=True), Y, 32),
        lanes.multiply(quotient(X, Z, signed=False), Y, 32),
        lanes.multiply(quotient(X, Y, signed=False), Y, 64),
        lanes.multiply(quotient(Z, Y, signed=False), Y, 32),
    ]
    assert all(lanes.subtract(X, each, 32) != rest for each in others)


NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2, 3, 7, WORD, WORD - 1, 1 << 31, (1 << 31) - 1]), st.integers(0, WORD)
)


@given(NUMBERS, NUMBERS, NUMBERS, st.booleans())
@example(1 << 31, WORD, 3, True)
@example(5, 0, 3, True)
@example(5, 0, 3, False)
def test_a_product_with_a_quotient_is_what_the_instructions_give(
    x: int, y: int, z: int, signed: bool
) -> None:
    sum_of_two = lanes.add(X, Z, 32)
    for dividend, whole in ((X, x), (sum_of_two, x + z & WORD)):
        found = lanes.multiply(quotient(dividend, Y, signed=signed), Y, 32)
        divided = quotient(whole, y, signed=signed)
        assert isinstance(divided, int)
        assert number(found, x, y, z) == divided * y & WORD


@given(NUMBERS, NUMBERS, st.integers(1, 30))
def test_a_factor_without_low_bits(x: int, y: int, bits: int) -> None:
    mask = WORD & -(1 << bits)
    found = lanes.multiply(lanes.bitwise(Op.AND, X, mask), Y, 32)
    assert number(found, x, y, 0) == (x & mask) * y & WORD
    shifted = lanes.shift_left(lanes.shift_right(X, bits, 32, arithmetic=True), bits, 32)
    assert found == lanes.multiply(shifted, Y, 32)
