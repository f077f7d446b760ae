"""Quotients that are rounded up as compilers do, and phases: numbers are those of the machine's own arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.ceilings import with_ceiling
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.parities import low_bit
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import Atom, Form, Value, atom

N, M = atom(Kind.PARAM, "n", 0, 4), atom(Kind.PARAM, "m", 4, 4)
WORD = (1 << 32) - 1


def name(form: Form) -> Atom:
    return form.terms[0][0]


def rounded_up(
    number: Value, bits: int, *, at_least: int = 0, first: bool = True, mask: int | None = None
) -> Value:
    """Return `number / 2^bits` rounded up, as LLVM computes it of signed numbers."""
    sign = lanes.shift_right(
        lanes.shift_right(number, 31, 32, arithmetic=True), 32 - bits, 32, arithmetic=False
    )
    biased = lanes.add(number, sign, 32)
    quotient = lanes.shift_right(biased, bits, 32, arithmetic=True)
    whole = lanes.bitwise(Op.AND, biased, WORD + 1 - (1 << bits) if mask is None else mask)
    is_left = lanes.compare(".ne", number, whole, 32, signed_operands=False)
    is_natural = lanes.compare(".gt", number, at_least - 1 & WORD, 32, signed_operands=True)
    both = (is_natural, is_left) if first else (is_left, is_natural)
    return lanes.add(quotient, lanes.choose(lanes.logic(Op.AND, *both), 1, 0, 1), 32)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("at_least", [0, 1])
@given(
    st.integers(-(1 << 31) + 1, (1 << 31) - 1) | st.integers(-200, 200),
    st.integers(1, 10),
    st.integers(-70, 70),
)
def test_a_quotient_that_is_rounded_up_is_one_symbol(
    at_least: int, first: bool, n: int, bits: int, offset: int
) -> None:
    dividend = lanes.add(N, offset & WORD, 32)
    plain = rounded_up(dividend, bits, at_least=at_least, first=first)
    made = with_ceiling(plain)
    assert isinstance(made, Form)
    assert isinstance(plain, Form)
    assert [each.kind for each, _ in made.terms] == [Kind.SAR]
    if -(1 << 31) <= n + offset < (1 << 31) - 1023:
        number = with_pins(made, {name(N): n}, 1)
        assert isinstance(number, int)
        assert number & WORD == -(-(n + offset) // (1 << bits)) & WORD
        assert with_pins(plain, {name(N): n}, 1) == number


@pytest.mark.parametrize(
    "other",
    [
        rounded_up(N, 6, at_least=2), rounded_up(N, 6, at_least=-1), rounded_up(N, 6, mask=WORD - 31),
        rounded_up(N, 6, mask=WORD - 62), lanes.add(rounded_up(N, 6), M, 64),
    ],
)  # fmt: skip
def test_what_is_no_such_quotient_keeps_its_number(other: Value) -> None:
    made = with_ceiling(other)
    assert isinstance(made, Form)
    assert isinstance(other, Form)
    for n in (-129, -65, -64, -63, -1, 0, 1, 63, 64, 65, 127, 128, 129):
        pins = {name(N): n, name(M): 7}
        assert with_pins(made, pins, 1) == with_pins(other, pins, 1)


BITS = st.sampled_from((N, M)) | st.integers(0, 9)
NUMBERS = st.recursive(
    BITS,
    lambda inner: st.one_of(
        st.builds(lambda a, b: lanes.add(a, b, 32), inner, inner),
        st.builds(lambda a, b: lanes.bitwise(Op.XOR, a, b), inner, inner),
        st.builds(lambda a, k: lanes.bitwise(Op.AND, a, k), inner, st.sampled_from((1, 2, 3, 6, 7))),
        st.builds(lambda a, k: lanes.multiply(a, k, 32), inner, st.integers(1, 6)),
    ),
    max_leaves=8,
)


@given(NUMBERS, st.integers(0, 40), st.integers(0, 40))
def test_the_low_bit_is_that_of_the_number(value: Value, n: int, m: int) -> None:
    pins = {name(N): n, name(M): m}
    if not isinstance(value, Form):
        return
    low = low_bit(value)
    bit = with_pins(low, pins, 1) if isinstance(low, Form) else low
    number = with_pins(value, pins, 1)
    assert isinstance(number, int)
    assert bit == number & 1


def test_flips_that_cancel_fall_out() -> None:
    flipped = lanes.bitwise(
        Op.XOR, lanes.bitwise(Op.XOR, N, lanes.add(M, 1, 32)), lanes.bitwise(Op.AND, N, 1)
    )
    assert isinstance(flipped, Form)
    assert low_bit(flipped) == lanes.bitwise(Op.AND, lanes.add(M, 1, 32), 1)
