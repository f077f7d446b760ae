"""Numbers for what a run leaves open, and whether a run is possible at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.cfg.optypes import Typing
from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.proof.first.whole_clusters import Ways
from ptxcheck.protocols.proof.first.witness import is_realised
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.approximated_terms import doubt_of, empty_sizes
from ptxcheck.protocols.symex.values.compute import COMPUTE
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.substitution import leaves, with_pins
from ptxcheck.protocols.symex.values.symbol import (
    Atom,
    Condition,
    Decisions,
    Form,
    Value,
    atom,
)

from .running import run

N = atom("param", "n", 0, 4)
M = atom("param", "m", 0, 4)
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


@given(
    st.integers(0, 1 << 12),
    st.lists(st.integers(-(1 << 12), 1 << 12), min_size=4, max_size=4),
    st.integers(1, 5),
)
def test_signed_indices_that_differ_between_lanes_become_places(stage: int, own: list[int], n: int) -> None:
    """As the front end makes places of numbers of some bits: `(index * size) >> log2(bits)`, in 64 bits."""
    wide, shift = Typing((".s32",), frozenset({".wide"})), Typing((".u64",), frozenset())
    held = np.array([each & 0xFFFFFFFF for each in own], dtype=np.uint64)

    def place(number: Value) -> Value:
        index = lanes.add(lanes.multiply(number, 64, 32), held, 32)
        bits = COMPUTE[Op.MUL](wide, (index, 4), 4)
        return COMPUTE[Op.SHR](shift, (bits, n), 4)

    symbolic = place(N)
    assert isinstance(symbolic, Form)
    found = with_pins(symbolic, {leaf: stage for leaf in leaves(symbolic) if leaf[0] == "param"}, 4)
    assert not isinstance(found, Form)
    expected = [((stage * 64 + each) * 4 & 0xFFFFFFFFFFFFFFFF) >> n for each in own]
    assert np.broadcast_to(found, 4).tolist() == expected
    computed = place(stage)
    assert not isinstance(computed, Form)
    assert np.broadcast_to(computed, 4).tolist() == expected


def test_halves_of_a_product_are_different_symbols() -> None:
    assert lanes.multiply(N, M, 32) != lanes.multiply_high(N, M, 32, signed_operands=False)
    signed, unsigned = (lanes.multiply_high(N, 5, 32, signed_operands=each) for each in (True, False))
    assert signed != unsigned


def test_operations_of_one_name_with_other_modifiers_are_different_symbols() -> None:
    left, right = (lanes.pure(Op.SHF, lambda *_: 0, (N, M, 3), each) for each in (0, 1))
    assert left != right


@given(st.integers(0, 2**16), st.integers(3, 7))
def test_the_solver_follows_a_division_by_multiplication(number: int, divisor: int) -> None:
    magic = -(-(1 << 34) // divisor) & 0xFFFFFFFF
    high = lanes.multiply_high(N, magic, 32, signed_operands=False)
    assert isinstance(high, Form)
    oracle = SolverOracle()
    oracle.assume(Condition("eq", N, number), True)
    assert oracle.only(high) == number * magic >> 32


@pytest.mark.parametrize(("turns", "barrier"), [(2, 16), (5, 16), (4, 8)])
def test_a_barrier_that_a_count_of_rounds_gives_is_one_number_in_a_run(turns: int, barrier: int) -> None:
    """Three barriers in turn; after `n` rounds the next one is `n mod 3`, by a magic number."""
    ran = run(
        """
        mov.u32 %r1, smem;
        mov.u32 %r2, 0;
        ld.param.u32 %r3, [n];
        LOOP: setp.ge.s32 %p1, %r2, %r3;
        @%p1 bra OUT;
        mbarrier.arrive.shared::cta.b64 _, [smem];
        add.u32 %r2, %r2, 1;
        bra LOOP;
        OUT: mul.hi.u32 %r4, %r3, 0xaaaaaaab;
        shr.u32 %r4, %r4, 1;
        mul.lo.u32 %r4, %r4, 3;
        sub.u32 %r4, %r3, %r4;
        shl.b32 %r4, %r4, 3;
        add.u32 %r4, %r1, %r4;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 16;
        """,
        threads=1,
        choose=lambda question: question.turns[-1] >= turns,
    )
    (place,) = ran.operands("mbarrier.arrive.expect_tx", "addr")
    first = ran.operands("mbarrier.arrive.shared", "addr")
    assert len(first) == turns
    assert isinstance(place, int)
    assert isinstance(first[0], int)
    assert place - first[0] == barrier


def test_a_path_with_a_product_is_possible_when_numbers_for_it_are_found() -> None:
    product = lanes.multiply(N, M, 32)
    assert isinstance(product, Form)
    decisions = Decisions(SolverOracle())
    decisions.assume(Condition("lt", product, 100), True)
    decisions.assume(Condition("lt", N, 3), False)
    assert doubt_of(decisions.taken) is not None
    assert isinstance(decisions.oracle, SolverOracle)
    assert is_realised(decisions.taken, decisions.oracle)


def test_a_product_that_its_factors_rule_out_is_not_possible() -> None:
    product = lanes.multiply(N, M, 32)
    assert isinstance(product, Form)
    decisions = Decisions(SolverOracle())
    for condition, truth in (
        (Condition("lt", product, 1), False),
        (Condition("eq", N, 0), True),
    ):
        decisions.assume(condition, truth)
    assert isinstance(decisions.oracle, SolverOracle)
    assert not is_realised(decisions.taken, decisions.oracle)


def test_numbers_are_found_for_factors_that_other_decisions_bind() -> None:
    """(n - 7) * m is 2, and m is no 1: the first numbers that come to mind do not do."""
    product = lanes.multiply(lanes.add(N, 0xFFFFFFF9, 32), M, 32)
    assert isinstance(product, Form)
    oracle = SolverOracle()
    decisions = Decisions(oracle)
    decisions.assume(Condition("eq", product, 2), True)
    decisions.assume(Condition("eq", M, 1), False)
    assert is_realised(decisions.taken, oracle)
    decisions.assume(Condition("eq", N, 8), False)
    assert not is_realised(decisions.taken, oracle)


PLACE, SIZE = atom("special", "%clusterid.x"), atom("special", "%nctaid.x")


def test_numbers_that_are_sought_are_of_a_cta_of_the_grid() -> None:
    apart = lanes.add(PLACE, SIZE, 32)
    assert isinstance(apart, Form)
    numbers = SolverOracle().numbers([(Condition("lt", PLACE, 4), False), (Condition("lt", apart, 40), True)])
    assert numbers is not None
    assert 4 <= numbers[PLACE.terms[0][0]] < numbers[SIZE.terms[0][0]]


def test_a_cta_whose_place_is_beyond_the_grid_is_none() -> None:
    place, size = PLACE, SIZE
    product = lanes.multiply(N, M, 32)
    assert isinstance(product, Form)
    oracle = SolverOracle()
    decisions = Decisions(oracle)
    decisions.assume(Condition("eq", product, 2), True)
    decisions.assume(Condition("eq", place, 3), True)
    assert is_realised(decisions.taken, oracle)
    decisions.assume(Condition("lt", size, 3), True)
    assert not is_realised(decisions.taken, oracle)


@pytest.mark.parametrize(
    ("condition", "truth", "is_empty"),
    [
        (Condition("lt", N, 1), True, True),
        (Condition("lt", N, 1), False, False),
        (Condition("lt", N, 2), True, False),
        (Condition("lt", Form(N.terms, -1), 0), True, True),
        (Condition("lt", Form(((N.terms[0][0], -1),)), 0), False, True),
        (Condition("lt", Form(((N.terms[0][0], -1),)), 0), True, False),
        (Condition("eq", N, 0), True, False),
    ],
)
def test_a_size_is_empty_where_an_order_says_so(condition: Condition, truth: bool, is_empty: bool) -> None:
    assert bool(empty_sizes([(condition, truth)])) == is_empty


@pytest.mark.parametrize(
    ("number", "is_empty"),
    [
        (lanes.opaque("shr", N, 7, 32), True),
        (lanes.bitwise(Op.AND, N, 0x7FFFFF80), True),
        (lanes.bitwise(Op.AND, N, 7), False),
        (lanes.bitwise(Op.AND, N, M), False),
        (lanes.opaque("rem", N, 8, 32, 1), False),
        (lanes.opaque("div", lanes.add(lanes.opaque("rem", N, 8, 32, 1), 1, 32), 2, 32, 1), False),
    ],
)
def test_what_a_division_leaves_is_no_size(number: Form, is_empty: bool) -> None:
    """It is zero for every eighth size: what goes wrong there is no matter of empty sizes."""
    assert bool(empty_sizes([(Condition("lt", number, 1), True)])) == is_empty


def test_ctas_of_a_cluster_follow_each_other_in_orders_only_where_their_places_differ() -> None:
    place = atom("special", "%clusterid.x").terms[0]
    ways = Ways()
    first = Condition("lt", Form((*N.terms, (place[0], -2))), 1)
    ways.note(7, 0, first, False)
    assert ways.agreed(7, 1, Condition("lt", Form((*N.terms, (place[0], -2)), -1), 1)) is False
    assert ways.agreed(7, 1, Condition("lt", Form((*M.terms, (place[0], -2)), -1), 1)) is None
    assert ways.agreed(8, 1, Condition("lt", Form((*N.terms, (place[0], -2)), -1), 1)) is None


def test_ctas_of_a_cluster_follow_each_other_where_a_division_leaves_out_their_place() -> None:
    place, (count, _) = atom("special", "%clusterid.x").terms[0][0], N.terms[0]

    def tile(rank: int, *, divided: bool = True) -> Form:
        own = Atom(("sum", ((place, 2),), rank))
        high = Atom(("mulhi", own, count, 32, 0)) if divided else Atom(("mul", own, count))
        size = Atom(("load", Atom(("sum", ((high, 4),), 64)), 32))
        return Form(((Atom(("mul", *sorted((size, high), key=lambda each: each.digest))), 1),))

    ways = Ways()
    ways.note(7, 0, Condition("lt", tile(0), 1), False)
    assert ways.agreed(7, 1, Condition("lt", tile(1), 1)) is False
    ways.note(8, 0, Condition("eq", tile(0), 3), True)
    assert ways.agreed(8, 1, Condition("eq", tile(1), 3)) is True
    ways.note(6, 0, Condition("eq", Form(((place, 2),)), 0), True)
    assert ways.agreed(6, 1, Condition("eq", Form(((place, 2),), 1), 0)) is None
    assert ways.agreed(7, 1, Condition("lt", Form(tile(1).terms, 4), 1)) is None
    ways.note(9, 0, Condition("lt", tile(0, divided=False), 1), False)
    assert ways.agreed(9, 1, Condition("lt", tile(1, divided=False), 1)) is None
