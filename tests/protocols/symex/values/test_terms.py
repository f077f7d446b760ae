"""Symbols as terms of the solver: for given parameters a term is what the machine computes from them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.approximated_terms import doubt_of
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import (
    Atom,
    Condition,
    Form,
    Value,
    atom,
)
from ptxcheck.protocols.symex.values.terms import Terms
from ptxcheck.terms.integers import Claim
from ptxcheck.terms.smt import PathSolver

N = atom("param", "n", 0, 4)
M = atom("param", "m", 4, 4)
LEAVES: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from((N, M)), st.integers(-9, 9).map(lambda n: n & 0xFFFFFFFF)
)
SMALL = st.integers(-40, 40)


def name(form: Value) -> Atom:
    assert isinstance(form, Form)
    return form.terms[0][0]


def least(a: Value, b: Value, largest: bool) -> Value:
    less = lanes.compare(".lt", a, b, 32, signed_operands=True)
    return lanes.choose(less, b, a, 32) if largest else lanes.choose(less, a, b, 32)


def selected(relation: str, values: tuple[Value, Value, Value, Value]) -> Value:
    a, b, c, d = values
    return lanes.choose(lanes.compare(relation, a, b, 32, signed_operands=True), c, d, 32)


def computed(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    amounts, masks = st.integers(0, 4), st.sampled_from((1, 3, 7, 2, 8, 12, 0x38, 0xFFFFFFFE, 0xFFFFFFF8))
    return st.one_of(
        st.builds(lambda a, b: lanes.add(a, b, 32), inner, inner),
        st.builds(lambda a, b: lanes.subtract(a, b, 32), inner, inner),
        st.builds(lambda a, k: lanes.multiply(a, k, 32), inner, st.integers(1, 5)),
        st.builds(lambda a, k: lanes.shift_right(a, k, 32, arithmetic=True), inner, amounts),
        st.builds(lambda a, k: lanes.bitwise(Op.AND, a, k), inner, masks),
        st.builds(lambda a, k: lanes.bitwise(Op.OR, a, k), inner, st.sampled_from((1, 3, 7))),
        st.builds(
            lambda a, k: lanes.multiply_high(a, k, 32, signed_operands=True),
            inner,
            st.sampled_from((1717986919, 0x66666667, 715827883, 0xB6DB6DB7)),
        ),
        st.builds(least, inner, inner, st.booleans()),
        st.builds(
            selected, st.sampled_from((".eq", ".ne", ".lt", ".ge")), st.tuples(inner, inner, inner, inner)
        ),
    )


@given(st.recursive(LEAVES, computed, max_leaves=6), SMALL, SMALL)
@settings(max_examples=400, deadline=None)
def test_a_term_is_what_the_machine_computes(value: Value, n: int, m: int) -> None:
    assume(isinstance(value, Form))
    assert isinstance(value, Form)
    terms = Terms()
    followed = set(terms.variables(value))
    assume(followed <= {name(N), name(M)})
    number = with_pins(value, {name(N): n, name(M): m}, 1)
    assume(isinstance(number, int))
    assert isinstance(number, int)
    signed = number - (1 << 32) if 1 << 31 <= number < 1 << 32 else number
    fixed = [Claim("eq", terms.of_atom(name(each)), given) for each, given in ((N, n), (M, m))]
    assert PathSolver().example(fixed, terms.of(value)) == signed


def test_one_divided_towards_zero() -> None:
    quotient = lanes.opaque("div", N, 4, 32, 1)
    terms = Terms()
    for n, expected in ((-9, -2), (-8, -2), (-1, 0), (0, 0), (7, 1), (8, 2)):
        fixed = [Claim("eq", terms.of_atom(name(N)), n)]
        assert PathSolver().example(fixed, terms.of(quotient)) == expected
        remainder = terms.of(lanes.opaque("rem", N, 4, 32, 1))
        assert PathSolver().example(fixed, remainder) == n - 4 * expected


def test_a_division_towards_zero_of_shifts() -> None:
    """As compilers write it: (x + (x >> 31 >>> 26)) >> 6."""

    def shifted(x: Value, sign: Value, bits: int) -> Form:
        bias = lanes.shift_right(lanes.shift_right(sign, 31, 32, arithmetic=True), bits, 32, arithmetic=False)
        found = lanes.shift_right(lanes.add(x, bias, 32), 6, 32, arithmetic=True)
        assert isinstance(found, Form)
        return found

    terms = Terms()
    dividend = lanes.add(N, 63, 32)
    quotient = terms.of(shifted(dividend, dividend, 26))
    assert "Choice" in repr(quotient)
    for n in (-200, -128, -127, -64, -63, -1, 0, 1, 64, 65):
        fixed = [Claim("eq", terms.of_atom(name(N)), n)]
        assert PathSolver().example(fixed, quotient) == int((n + 63) / 64)
    for other in (shifted(dividend, N, 26), shifted(dividend, dividend, 25)):
        assert "Choice" not in repr(terms.of(other))


def test_what_threads_hold_apart_is_not_taken_apart() -> None:
    chosen = lanes.choose(lanes.compare(".eq", N, 0, 32, signed_operands=True), M, 7, 32)
    assert isinstance(chosen, Form)
    assert list(Terms().variables(chosen)) == [name(N), name(M)]
    apart = lanes.opaque("selp", chosen, M, 7, differs=3)
    assert list(Terms().variables(apart)) == [name(apart)]


def test_tiles_of_later_rounds_are_no_nearer_than_those_of_earlier_ones() -> None:
    """A CTA without a tile in one round has none in the next: sizes of the grid are at least one."""
    across, down = (atom("special", f"%nctaid.{axis}") for axis in "xy")
    grid, left = lanes.multiply(across, down, 32), N
    assert isinstance(grid, Form)
    oracle = SolverOracle()
    oracle.assume(Condition("lt", left, 1), True)
    later = lanes.subtract(left, grid, 32)
    assert isinstance(later, Form)
    assert oracle.implied(Condition("lt", later, 1)) is True
    other = lanes.subtract(left, lanes.multiply(across, M, 32), 32)
    assert isinstance(other, Form)
    assert oracle.implied(Condition("lt", other, 1)) is None


@given(st.integers(-3, 3), st.integers(-3, 3))
def test_two_numbers_have_no_bit_together_only_where_both_are_zero(n: int, m: int) -> None:
    either = lanes.bitwise(Op.OR, N, M)
    truth = lanes.compare(".eq", either, 0, 32, signed_operands=True)
    chosen = lanes.choose(truth, 5, 6, 1)
    assert isinstance(either, Form)
    assert isinstance(chosen, Form)
    oracle = SolverOracle()
    for each, number in ((N, n), (M, m)):
        oracle.assume(Condition("eq", each, number), True)
    assert oracle.implied(Condition("eq", either, 0)) is (n == m == 0)
    assert oracle.implied(Condition("ne", either, 0)) is not (n == m == 0)
    assert oracle.only(chosen) == (5 if n == m == 0 else 6)


def test_whether_there_is_any_bit_is_no_matter_of_doubt() -> None:
    """The last tile of a loop, as compilers have it: `(n - 3) | (m & 63)`."""
    either = lanes.bitwise(Op.OR, lanes.add(N, 0xFFFFFFFD, 32), lanes.bitwise(Op.AND, M, 63))
    assert isinstance(either, Form)
    path = [(Condition("eq", either, 0), True), (Condition("lt", N, 2), False)]
    assert doubt_of(path) is None


def test_what_is_possible_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the runs in between have decided."""
    asked: list[int] = []
    possible = PathSolver.possible

    def counted(solver: PathSolver, claims: Sequence[Claim], path: Sequence[Claim] = ()) -> bool | None:
        asked.append(len(claims))
        return possible(solver, claims, path)

    monkeypatch.setattr(PathSolver, "possible", counted)
    assert isinstance(N, Form)
    below, above = (Condition("lt", N, 3), True), (Condition("lt", N, 5), False)
    oracle = SolverOracle()
    for _ in range(2):
        assert oracle.is_possible([below])
        assert not oracle.is_possible([below, above])
        oracle.restart()
        oracle.assume(Condition("lt", N, 9), False)
    assert asked == [1, 2]


def test_unsigned_divisions_of_what_is_read_as_negative() -> None:
    """A parameter of 2^31 or more is negative to the solver; what an unsigned division leaves is of its pattern."""
    terms = Terms()
    for n, divisor in ((-1, 3), (-(1 << 31), 7), (-5, 4), (5, 3)):
        fixed = [Claim("eq", terms.of_atom(name(N)), n)]
        quotient, rest = (lanes.opaque(kind, N, divisor, 32, 0) for kind in ("div", "rem"))
        pattern = n & 0xFFFFFFFF
        assert PathSolver().example(fixed, terms.of(quotient)) == pattern // divisor
        assert PathSolver().example(fixed, terms.of(rest)) == pattern % divisor


def test_a_wide_factor_is_signed_by_its_own_width() -> None:
    product = lanes.multiply_high(N, 0xCCCCCCCD, 64, signed_operands=True)
    terms = Terms()
    for n in (7, -7):
        fixed = [Claim("eq", terms.of_atom(name(N)), n)]
        assert PathSolver().example(fixed, terms.of(product)) == n * 0xCCCCCCCD >> 64  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [-1, 7])
def test_a_wide_high_half_is_shifted_as_a_word(n: int) -> None:
    """The high half of a product of 64 bits that fits a word, which may be a negative one: a run takes no other."""
    factor = (1 << 64) - 1
    shifted = lanes.opaque(Kind.SHR, lanes.multiply_high(N, factor, 64, signed_operands=False), 4, 32)
    terms = Terms()
    fixed = [Claim("eq", terms.of_atom(name(N)), n)]
    word = ((n & (1 << 64) - 1) * factor >> 64) & 0xFFFFFFFF
    assert PathSolver().example(fixed, terms.of(shifted)) == word >> 4
