"""Orders of unsigned numbers that may be below zero as integers, against the orders of their bits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import ORDERS, add, subtract
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom
from ptxcheck.protocols.symex.values.unsigned_order import ordered

N = atom(Kind.PARAM, "n", 0, 4)
M = atom(Kind.PARAM, "m", 4, 4)
SMALL = st.integers(0, 9)


def _form(factors: tuple[int, int], constant: int) -> Value:
    found: Value = constant & 0xFFFFFFFF
    for name, factor in zip((N, M), factors, strict=True):
        for _ in range(abs(factor)):
            found = add(found, name, 32) if factor > 0 else subtract(found, name, 32)
    return found


@given(
    st.sampled_from(sorted(ORDERS)),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)), st.integers(-6, 6),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)), st.integers(-6, 6),
    SMALL, SMALL,
)  # fmt: skip
def test_it_is_the_order_of_the_bits(
    relation: str,
    left: tuple[int, int],
    left_constant: int,
    right: tuple[int, int],
    right_constant: int,
    n: int,
    m: int,
) -> None:
    a, b = _form(left, left_constant), _form(right, right_constant)
    truth = ordered(relation, a, b, 32)
    if isinstance(truth, Form):
        truth = with_pins(truth, {N.terms[0][0]: n, M.terms[0][0]: m}, 1)
    numbers = [
        (x * n + y * m + constant) % (1 << 32)
        for (x, y), constant in ((left, left_constant), (right, right_constant))
    ]
    less, same = numbers[0] < numbers[1], numbers[0] == numbers[1]
    expected = {
        ".lt": less, ".lo": less, ".le": less or same, ".ls": less or same,
        ".gt": not (less or same), ".hi": not (less or same), ".ge": not less, ".hs": not less,
    }[relation]  # fmt: skip
    assert truth == expected
