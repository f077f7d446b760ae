"""Operations on a number for each thread, against the same on Python's integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom, plus

WIDTHS = st.sampled_from([16, 32, 64])


def operands(width: int) -> st.SearchStrategy[tuple[list[int], list[int], bool, bool]]:
    edges = [0, 1, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1]
    numbers = st.one_of(st.sampled_from(edges), st.integers(0, (1 << width) - 1))
    amounts = st.one_of(st.integers(0, width + 3), st.just((1 << width) - 1))
    size = st.integers(1, 4)
    return size.flatmap(
        lambda n: st.tuples(
            st.lists(numbers, min_size=n, max_size=n), st.lists(amounts, min_size=n, max_size=n),
            st.booleans(), st.booleans(),
        )
    )  # fmt: skip


CASES = WIDTHS.flatmap(lambda width: st.tuples(st.just(width), operands(width)))


def given_as(
    column: list[int], *, uniform: bool
) -> tuple[int | np.ndarray[tuple[int], np.dtype[np.uint64]], list[int]]:
    """Return a column as the machine holds it, and the number of each thread."""
    if uniform:
        return column[0], [column[0]] * len(column)
    return np.array(column, dtype=np.uint64), column


def numbers_of(value: Value, threads: int) -> list[int]:
    assert not isinstance(value, Form)
    return [int(each) for each in lanes.as_lanes(value, threads)]


def two(number: int, width: int) -> int:
    """Return the two's complement reading."""
    return number - (1 << width) if number >> width - 1 else number


@given(CASES)
@settings(max_examples=300, deadline=None)
def test_each_thread_computes_what_python_does(
    case: tuple[int, tuple[list[int], list[int], bool, bool]],
) -> None:
    width, (numbers, amounts, one_number, one_amount) = case
    mask, threads = (1 << width) - 1, len(numbers)
    a, left = given_as(numbers, uniform=one_number)
    n, far = given_as(amounts, uniform=one_amount)
    pairs = list(zip(left, far, strict=True))

    expected = [(x << k) & mask if k < width else 0 for x, k in pairs]
    assert numbers_of(lanes.shift_left(a, n, width), threads) == expected
    expected = [x >> k if k < width else 0 for x, k in pairs]
    assert numbers_of(lanes.shift_right(a, n, width, arithmetic=False), threads) == expected
    expected = [two(x, width) >> min(k, width) & mask for x, k in pairs]
    assert numbers_of(lanes.shift_right(a, n, width, arithmetic=True), threads) == expected
    expected = [x * k >> width for x, k in pairs]
    assert numbers_of(lanes.multiply_high(a, n, width, signed_operands=False), threads) == expected
    expected = [two(x, width) * two(k, width) >> width & mask for x, k in pairs]
    assert numbers_of(lanes.multiply_high(a, n, width, signed_operands=True), threads) == expected


def test_products_of_what_is_rounded_down_are_one_however_it_is_written() -> None:
    """x & -8 is 8 * (x >> 3)."""
    x, other = atom("param", "x", 0, 4), atom("param", "y", 0, 4)
    mask = (1 << 64) - 8
    masked = lanes.bitwise(Op.AND, plus(x, 7), mask)
    shifted = lanes.shift_right(plus(x, 7), 3, 32, arithmetic=True)
    product = lanes.multiply(masked, other, 32)
    assert product == lanes.multiply(other, lanes.multiply(shifted, 8, 32), 32)
    assert product != lanes.multiply(other, lanes.multiply(shifted, 4, 32), 32)
    assert product != lanes.multiply(lanes.bitwise(Op.AND, plus(x, 7), mask ^ 16), other, 32)
    names = [form.terms[0][0] for form in (x, other)]
    assert isinstance(product, Form)
    for number in (-9, -8, -7, 0, 1, 9, 1000):
        found = with_pins(product, dict(zip(names, (number, 3), strict=True)), 1)
        assert isinstance(found, int)
        assert lanes.signed(found, 32) == (number + 7) // 8 * 8 * 3


N = atom("param", "n", 0, 4)
M = atom("param", "m", 0, 4)


def test_halves_of_a_product_are_different_symbols() -> None:
    assert lanes.multiply(N, M, 32) != lanes.multiply_high(N, M, 32, signed_operands=False)
    signed, unsigned = (lanes.multiply_high(N, 5, 32, signed_operands=each) for each in (True, False))
    assert signed != unsigned


def test_operations_of_one_name_with_other_modifiers_are_different_symbols() -> None:
    left, right = (lanes.pure(Op.SHF, lambda *_: 0, (N, M, 3), each) for each in (0, 1))
    assert left != right


def test_numbers_of_threads_plus_what_rounds_change_are_numbers_once_that_cancels_out() -> None:
    numbers = np.arange(64, dtype=np.uint64) * 16 + 1024
    rounds = atom(Kind.ORDINAL, 3)
    moved = lanes.add(numbers, lanes.multiply(rounds, 8192, 64), 64)
    assert isinstance(moved, Form)
    placed = lanes.subtract(lanes.add(moved, 4096, 32), lanes.multiply(rounds, 8192, 64), 32)
    assert isinstance(placed, np.ndarray)
    assert placed.tolist() == (numbers + 4096).tolist()
    wrapped = lanes.subtract(lanes.add(moved, -2048 & 0xFFFFFFFF, 32), lanes.multiply(rounds, 8192, 64), 32)
    assert isinstance(wrapped, np.ndarray)
    assert wrapped.tolist() == [(int(each) - 2048) % (1 << 32) for each in numbers]


@given(st.integers(0, 6), st.integers(0, 40), st.integers(0, 40), st.integers(0, (1 << 32) - 1))
def test_low_bits_of_multiples_are_known(bits: int, factor: int, constant: int, number: int) -> None:
    (name, _), *_ = atom(Kind.PARAM, "n", 0, 4).terms
    mask = (1 << bits) - 1
    multiple = Form(((name, factor + 1),), constant)
    kept = lanes.bitwise(Op.AND, multiple, mask)
    put_in = with_pins(kept, {name: number}, 1) if isinstance(kept, Form) else kept
    assert put_in == ((factor + 1) * number + constant) & mask
    assert isinstance(kept, int) or (factor + 1) % (mask + 1)


@given(
    st.sampled_from([Op.OR, Op.XOR]),
    st.integers(0, 6),
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(0, 1 << 20),
)
def test_low_bits_of_multiples_are_set_and_turned(
    op: Op, bits: int, factor: int, constant: int, number: int
) -> None:
    (name, _), *_ = atom(Kind.PARAM, "n", 0, 4).terms
    mask = (1 << bits) - 1
    made = lanes.bitwise(op, Form(((name, factor + 1),), constant), mask)
    total = (factor + 1) * number + constant
    put_in = with_pins(made, {name: number}, 1) if isinstance(made, Form) else made
    assert put_in == (total | mask if op is Op.OR else total ^ mask)
