"""What the solver says of numbers of 64 bits, divisions and places in the grid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import Condition, Form, Value, atom
from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import deadlock

BARRIER_BEHIND_A_WIDE_NUMBER = """
mov.u32 %r9, %tid.x; ld.param.u64 %rd1, [p]; ld.param.u32 %r2, [n];
setp.ge.u32 %p1, %r9, 32; @%p1 bra E;
{body} @!%p2 bra E;
barrier.sync 3, 64;
E:
"""
"""Numbers of 64 bits that the host passes or has put into memory."""


@pytest.mark.parametrize(
    "body",
    [
        "setp.gt.u64 %p2, %rd1, 8589934592;",
        "setp.gt.s64 %p2, %rd1, 8589934592;",
        "shr.u64 %rd2, %rd1, 32; setp.ne.u64 %p2, %rd2, 0;",
        "and.b64 %rd2, %rd1, 0xFFFFFFFF00000000; setp.ne.u64 %p2, %rd2, 0;",
    ],
)
def test_numbers_of_more_than_32_bits(body: str) -> None:
    assert deadlock(BARRIER_BEHIND_A_WIDE_NUMBER.format(body=body)) is VerdictKind.VIOLATED


def test_numbers_in_memory_of_more_than_32_bits() -> None:
    assert (
        deadlock(
            BARRIER_BEHIND_A_WIDE_NUMBER.format(
                body="ld.global.u64 %rd2, [%rd1]; setp.gt.u64 %p2, %rd2, 8589934592;"
            )
        )
        is VerdictKind.UNKNOWN
    )


def test_numbers_of_32_bits_are_no_greater() -> None:
    assert (
        deadlock(BARRIER_BEHIND_A_WIDE_NUMBER.format(body="setp.gt.s32 %p2, %r2, 2147483647;"))
        is VerdictKind.PROVED
    )


N = atom("param", "n", 0, 4)


@given(st.integers(0, 2**16), st.integers(3, 7))
def test_the_solver_follows_a_division_by_multiplication(number: int, divisor: int) -> None:
    magic = -(-(1 << 34) // divisor) & 0xFFFFFFFF
    high = lanes.multiply_high(N, magic, 32, signed_operands=False)
    assert isinstance(high, Form)
    oracle = SolverOracle()
    oracle.assume(Condition("eq", N, number), True)
    assert oracle.only(high) == number * magic >> 32


PLACE_IN_THE_GRID, SIZE_OF_THE_GRID = atom("special", "%clusterid.x"), atom("special", "%nctaid.x")


def test_numbers_that_are_sought_are_of_a_cta_of_the_grid() -> None:
    apart = lanes.add(PLACE_IN_THE_GRID, SIZE_OF_THE_GRID, 32)
    assert isinstance(apart, Form)
    numbers = SolverOracle().numbers(
        [(Condition("lt", PLACE_IN_THE_GRID, 4), False), (Condition("lt", apart, 40), True)]
    )
    assert numbers is not None
    assert 4 <= numbers[PLACE_IN_THE_GRID.terms[0][0]] < numbers[SIZE_OF_THE_GRID.terms[0][0]]


def test_where_no_size_is_negative_nothing_is_left_of_a_place_that_is() -> None:
    """Tiles of a CTA of a persistent kernel: its place, and further ones by the size of the grid, modulo a size."""
    size = atom("param", "n", 0, 4)

    def admits(dividend: Value) -> bool:
        rest = lanes.remainder(dividend, size, 32, signed_operands=True)
        assert isinstance(rest, Form)
        oracle, is_negative = SolverOracle(), Condition("lt", rest, 0)
        assert oracle.is_possible([(is_negative, True)])
        oracle.assume(is_negative, True)
        return oracle.admits_sizes([(is_negative, True)])

    next_tile = lanes.add(PLACE_IN_THE_GRID, lanes.multiply(SIZE_OF_THE_GRID, SIZE_OF_THE_GRID, 32), 32)
    assert not admits(PLACE_IN_THE_GRID)
    assert not admits(next_tile)
    assert not admits(size)
    assert admits(lanes.subtract(PLACE_IN_THE_GRID, SIZE_OF_THE_GRID, 32))
    assert admits(lanes.add(PLACE_IN_THE_GRID, 0xFFFFFFFF, 32))
