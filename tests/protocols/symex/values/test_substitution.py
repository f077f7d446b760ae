"""Symbols become numbers once their parts are, and others once choices in them are made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.lane_arithmetic import multiply
from ptxcheck.protocols.symex.values.substitution import leaves, mapped, rebuild, with_pins
from ptxcheck.protocols.symex.values.symbol import Atom, Form, Value, atom
from ptxcheck.protocols.symex.values.trace import RANK_SHIFT, SHARED_WINDOW
from tests.protocols.machine_runs import run

N = atom("param", "n", 0, 4)
M = atom("param", "m", 0, 4)
SMALL = st.integers(-(1 << 20), 1 << 20)


def _form(value: Value) -> Form:
    assert isinstance(value, Form)
    return value


def _named(value: Form) -> dict[str, Atom]:
    return {str(leaf[1]): leaf for leaf in leaves(value)}


def _bits(number: int) -> int:
    return number & 0xFFFFFFFF


@given(SMALL, SMALL.filter(bool))
def test_a_division_of_numbers_is_the_one_of_the_host(n: int, m: int) -> None:
    quotient = lanes.divide(_bits(n), _bits(m), 32, signed_operands=True)
    rest = lanes.remainder(_bits(n), _bits(m), 32, signed_operands=True)
    assert quotient == _bits(int(n / m))
    assert rest == _bits(n - int(n / m) * m)
    named = {_named(N)["n"]: n, _named(M)["m"]: m}
    assert with_pins(_form(lanes.divide(N, M, 32, signed_operands=True)), named, 1) == quotient
    assert with_pins(_form(lanes.remainder(N, M, 32, signed_operands=True)), named, 1) == rest


def test_a_division_by_zero_is_no_error() -> None:
    assert lanes.divide(5, 0, 32, signed_operands=False) == 0xFFFFFFFF
    assert lanes.remainder(5, 0, 32, signed_operands=False) == 5


def test_a_choice_inside_is_made() -> None:
    condition = lanes.compare(".eq", N, 0, 32, signed_operands=True)
    chosen = lanes.choose(condition, M, 6, 1)
    for truth, number in ((True, M), (False, 6)):
        divided = _form(lanes.divide(N, chosen, 32, signed_operands=True))
        assert rebuild(divided, lambda _, truth=truth: truth, 1) == lanes.divide(  # type: ignore[misc]
            N, number, 32, signed_operands=True
        )
        product = _form(lanes.multiply(N, chosen, 32))
        assert rebuild(product, lambda _, truth=truth: truth, 1) == lanes.multiply(N, number, 32)  # type: ignore[misc]


def test_with_one_factor_or_a_divisor_known_the_solver_can_follow() -> None:
    known = {_named(M)["m"]: 4}
    assert with_pins(_form(lanes.multiply(N, M, 32)), known, 1) == lanes.multiply(N, 4, 32)
    divided = _form(lanes.divide(N, M, 32, signed_operands=True))
    assert with_pins(divided, known, 1) == lanes.divide(N, 4, 32, signed_operands=True)
    assert with_pins(divided, {_named(N)["n"]: 4}, 1) == divided


def test_what_was_decided_of_a_product_holds_for_the_multiple_that_it_turns_out_to_be() -> None:
    ran = run(
        """
        ld.param.u32 %r2, [n];
        ld.param.u32 %r3, [m];
        mul.lo.s32 %r4, %r2, %r3;
        setp.lt.s32 %p1, %r4, 10;
        @%p1 bra A;
        mbarrier.arrive.shared::cta.b64 _, [smem];
        A: setp.ne.s32 %p2, %r3, 2;
        @%p2 bra B;
        mbarrier.arrive.shared::cta.b64 _, [smem];
        B: shl.b32 %r5, %r2, 1;
        setp.lt.s32 %p3, %r5, 10;
        @%p3 bra C;
        mbarrier.arrive.shared::cta.b64 _, [smem];
        C:
        """,
        threads=1,
        choose=False,
    )
    assert [question.condition.relation for question in ran.questions] == ["lt", "eq"]


def test_a_number_that_a_choice_inside_settles_counts_for_products_beside_it() -> None:
    """As a fast division has it, which does nothing for a divisor of one: the rest is n - n / m * m, none for m = 1."""
    ran = run(
        """
        ld.param.u32 %r2, [n];
        ld.param.u32 %r3, [m];
        mul.hi.u32 %r4, %r2, %r3;
        setp.eq.s32 %p1, %r3, 1;
        selp.b32 %r4, %r2, %r4, %p1;
        mul.lo.s32 %r5, %r4, %r3;
        sub.s32 %r5, %r2, %r5;
        setp.lt.s32 %p2, %r5, 10;
        @%p2 bra A;
        mbarrier.arrive.shared::cta.b64 _, [smem];
        A:
        """,
        threads=1,
        choose=True,
    )
    assert [question.condition.relation for question in ran.questions] == ["eq"]
    assert not ran.events("mbarrier.arrive")


STAGE = atom("param", "n", 0, 4)
NAME = STAGE.terms[0][0]


def test_numbers_are_mapped_at_once() -> None:
    assert mapped(1088, 3, generic=False) == 3 << RANK_SHIFT | 1088
    assert mapped(1 << RANK_SHIFT | 1088, 0, generic=True) == SHARED_WINDOW + 1088


def test_symbols_are_mapped_when_they_are_numbers() -> None:
    place = mapped(multiply(STAGE, 8, 32), 1, generic=False)
    assert isinstance(place, Form)
    assert list(leaves(place)) == [NAME]
    assert with_pins(place, {NAME: 5}, 1) == 1 << RANK_SHIFT | 40


_BITS = st.integers(0, 2**32 - 1)


def _pinned(value: Value, **numbers: int) -> Value:
    assert isinstance(value, Form)
    names: dict[Atom, int] = {leaf: numbers[str(leaf[1])] for leaf in leaves(value)}
    return with_pins(value, names, 1)


@given(_BITS, _BITS)
def test_a_symbol_with_a_number_put_in_is_what_the_operation_gives(number: int, magic: int) -> None:
    high = lanes.multiply_high(N, magic, 32, signed_operands=False)
    assert _pinned(high, n=number) == number * magic >> 32


@given(_BITS, _BITS)
def test_a_packed_pair_is_its_numbers_side_by_side(low: int, high: int) -> None:
    assert _pinned(lanes.pack(32, [N, M]), n=low, m=high) == low | high << 32
