"""Divisions by a number of the host: what it computes for a divisor divides, and nothing else is passed."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from ptxcheck.protocols.proof.first.witness import is_realised
from ptxcheck.protocols.symex.values.divisors import Divisor, divisors_in
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import (
    Atom,
    Condition,
    Decisions,
    Form,
    atom,
)

COUNT = atom("param", "n", 0, 4)
MULTIPLIER, SHIFT = Atom(("param", "p", 20, 4)), Atom(("param", "p", 24, 4))
DIVISOR = Atom(("param", "p", 16, 4))
QUOTIENT = atom("shr", Atom(("mulhi", COUNT.terms[0][0], MULTIPLIER, 32, 0)), SHIFT, 32)
OF_P = Divisor(DIVISOR, MULTIPLIER, SHIFT)


@given(st.integers(2, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_the_numbers_of_a_divisor_divide(divisor: int, number: int) -> None:
    numbers = OF_P.numbers(divisor)
    assert numbers[DIVISOR] == divisor
    multiplier = numbers[MULTIPLIER] & 0xFFFFFFFF
    assert number * multiplier >> 32 >> numbers[SHIFT] == number // divisor


@given(st.integers(1, 2**31 - 1), st.booleans())
def test_numbers_fit_that_a_divisor_has(divisor: int, is_told: bool) -> None:
    numbers = OF_P.numbers(divisor)
    if not is_told:
        del numbers[DIVISOR]
    assert OF_P.fits(numbers)
    assert not OF_P.fits({**numbers, MULTIPLIER: numbers[MULTIPLIER] ^ 1 << 20, SHIFT: 0})
    assert not OF_P.fits({DIVISOR: divisor, SHIFT: 0})


def _taken(*conditions: tuple[Condition, bool]) -> tuple[Decisions, SolverOracle]:
    oracle = SolverOracle()
    decisions = Decisions(oracle)
    for condition, truth in conditions:
        decisions.assume(condition, truth)
    return decisions, oracle


def test_a_quotient_is_found_with_a_divisor() -> None:
    decisions, oracle = _taken(
        (Condition("eq", Form(((DIVISOR, 1),)), 1), False), (Condition("eq", QUOTIENT, 21), True)
    )
    assert divisors_in(decisions.taken) == [OF_P]
    assert is_realised(decisions.taken, oracle)


def test_no_divisor_has_a_quotient_that_only_a_strange_multiplier_gives() -> None:
    """2^32 * 0.99 makes 99 of 100."""
    decisions, oracle = _taken((Condition("eq", COUNT, 100), True), (Condition("eq", QUOTIENT, 99), True))
    assert not is_realised(decisions.taken, oracle)


def test_the_multiplier_may_come_first() -> None:
    first = atom("shr", Atom(("mulhi", MULTIPLIER, COUNT.terms[0][0], 32, 0)), SHIFT, 32)
    decisions, oracle = _taken((Condition("eq", COUNT, 100), True), (Condition("eq", first, 99), True))
    assert divisors_in(decisions.taken) == [OF_P]
    assert not is_realised(decisions.taken, oracle)


def test_words_apart_are_no_divisor() -> None:
    shift = Atom(("param", "p", 32, 4))
    apart = atom("shr", Atom(("mulhi", COUNT.terms[0][0], MULTIPLIER, 32, 0)), shift, 32)
    assert divisors_in([(Condition("eq", apart, 1), True)]) == []


ADDED, LAST = Atom(("param", "p", 24, 4)), Atom(("param", "p", 28, 4))
OF_CCCL = Divisor(DIVISOR, MULTIPLIER, LAST, ADDED)


@given(st.integers(3, 2**31 - 1), st.integers(0, 2**32 - 2))
def test_the_numbers_of_another_library_divide(divisor: int, number: int) -> None:
    """`cuda::fast_mod_div<uint32_t>`, where the divisor is no power of two."""
    assume(divisor & (divisor - 1))
    numbers = OF_CCCL.numbers(divisor)
    multiplier = numbers[MULTIPLIER] & 0xFFFFFFFF
    assert (number + numbers[ADDED]) * multiplier >> 32 >> numbers[LAST] == number // divisor
    # Where the divisor is not told, other numbers may be those of another one.
    assert OF_CCCL.fits({name: numbers[name] for name in (MULTIPLIER, ADDED, LAST)})
    assert OF_CCCL.fits(numbers)
    assert not OF_CCCL.fits({**numbers, MULTIPLIER: numbers[MULTIPLIER] ^ 1 << 20})
    assert not OF_CCCL.fits({**numbers, ADDED: 1 - numbers[ADDED]})


def test_another_library_is_told_by_its_places() -> None:
    dividend = Atom(("sum", ((COUNT.terms[0][0], 1), (ADDED, 1)), 0))
    quotient = atom("shr", Atom(("mulhi", dividend, MULTIPLIER, 32, 0)), LAST, 32)
    decisions, oracle = _taken(
        (Condition("lt", COUNT, 0), False),
        (Condition("eq", Form(((MULTIPLIER, 1),)), 0), False),
        (Condition("eq", quotient, 21), True),
    )
    assert divisors_in(decisions.taken) == [OF_CCCL]
    assert is_realised(decisions.taken, oracle)
    strange, other = _taken((Condition("eq", COUNT, 100), True), (Condition("eq", quotient, 99), True))
    assert not is_realised(strange.taken, other)


def test_numbers_that_are_sought_are_those_of_a_divisor() -> None:
    beyond = Form((*COUNT.terms, (atom("mul", QUOTIENT.terms[0][0], DIVISOR).terms[0][0], -1)))
    way = [(Condition("eq", Form(((DIVISOR, 1),)), 1), False), (Condition("lt", beyond, 2), False)]
    numbers = SolverOracle().numbers(way)
    assert numbers is not None
    assert OF_P.fits(numbers)
    assert numbers[DIVISOR] > 1
