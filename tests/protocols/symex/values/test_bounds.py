"""Intervals of terms, and answers of the solver that come from earlier models: both agree with arithmetic."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.protocols.symex.values.bounds import Bounds
from ptxcheck.terms.integers import (
    Choice,
    Claim,
    Quotient,
    Remainder,
    Sum,
    Term,
    Unsigned,
    Variable,
    evaluator,
)
from ptxcheck.terms.smt import PathSolver

NAMES = (Variable("a", -6, 6), Variable("b", 0, 5))
NUMBERS = range(-40, 41)


def value(term: Term, numbers: dict[str, int]) -> int:
    match term:
        case Variable():
            return numbers[term.name]
        case Sum():
            return term.constant + sum(factor * value(part, numbers) for factor, part in term.terms)
        case Quotient():
            return value(term.term, numbers) // term.divisor
        case Remainder():
            return value(term.term, numbers) % term.divisor
        case Unsigned():
            inner = value(term.term, numbers)
            return inner + (1 << term.bits) if inner < 0 else inner
        case Choice():
            return value(term.chosen if holds(term.claim, numbers) else term.other, numbers)


def holds(claim: Claim, numbers: dict[str, int]) -> bool:
    number = value(claim.term, numbers)
    return (number < claim.bound if claim.relation == "lt" else number == claim.bound) == claim.holds


WORLDS = [
    dict(zip(("a", "b"), numbers, strict=True))
    for numbers in product(*(range(v.low, v.high + 1) for v in NAMES))
]
FACTORS = st.integers(-3, 3).filter(bool)


def is_in_a_register(term: Term) -> bool:
    return all(-(1 << 31) <= value(term, world) < 1 << 31 for world in WORLDS)


def claims_about(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Claim]:
    return st.builds(Claim, st.sampled_from(("lt", "eq")), terms, st.integers(-8, 8), st.booleans())


TERMS: st.SearchStrategy[Term] = st.recursive(
    st.sampled_from(NAMES),
    lambda inner: st.one_of(
        st.builds(
            Sum,
            st.lists(st.tuples(FACTORS, inner), min_size=1, max_size=2).map(tuple),
            st.integers(-5, 5),
        ),
        st.builds(Quotient, inner, st.integers(1, 4)),
        st.builds(Remainder, inner, st.integers(1, 4)),
        st.builds(Unsigned, inner.filter(is_in_a_register)),
        st.builds(Choice, claims_about(inner), inner, inner),
    ),
    max_leaves=4,
)
CLAIMS = claims_about(TERMS)


@given(st.lists(CLAIMS, max_size=4), CLAIMS)
@settings(max_examples=300, deadline=None)
def test_bounds_say_nothing_that_is_not_so(noted: list[Claim], asked: Claim) -> None:
    bounds = Bounds()
    for claim in noted:
        bounds.note(claim)
    worlds = [world for world in WORLDS if all(holds(claim, world) for claim in noted)]
    low, high = bounds.of(asked.term)
    implied, only = bounds.implied(asked), bounds.only(asked.term)
    for world in worlds:
        assert low <= value(asked.term, world) <= high
        assert implied is None or holds(asked, world) == implied
        assert only is None or value(asked.term, world) == only


@given(st.lists(st.lists(CLAIMS, min_size=1, max_size=4), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_answers_of_the_solver_do_not_depend_on_those_before(questions: list[list[Claim]]) -> None:
    solver = PathSolver()
    for claims in questions:
        worlds = [world for world in WORLDS if all(holds(claim, world) for claim in claims)]
        assert solver.possible(claims) in (bool(worlds), None)
        number = solver.example(claims, claims[0].term)
        assert number is None or number in {value(claims[0].term, world) for world in worlds}


def test_a_number_close_to_that_of_an_earlier_answer_is_found() -> None:
    solver = PathSolver()
    count = Variable("n", -(1 << 31), (1 << 31) - 1)
    steps = Quotient(Sum(((1, count),), 63), 64)
    for turns in range(1, 30):
        assert solver.possible([Claim("lt", steps, turns, holds=False), Claim("lt", count, 1 << 20)]) is True
        assert solver.possible([Claim("eq", steps, turns), Claim("eq", count, 64 * turns + 1)]) is False


def test_terms_of_many_rounds_have_bounds() -> None:
    """Each of 5,000 rounds adds one, or starts again: deeper than calls may nest."""
    bounds = Bounds()
    term: Term = Variable("a", 0, 6)
    for _ in range(5000):
        term = Choice(Claim("eq", NAMES[1], 1), Sum(((1, term),), 1), Variable("b", 0, 5))
        assert bounds.of(term)[0] == 0
    fresh = Bounds()
    assert fresh.of(term) == (0, 5006)


@given(TERMS)
@settings(max_examples=200, deadline=None)
def test_functions_of_terms_compute_what_a_walk_over_them_does(term: Term) -> None:
    compute = evaluator(term)
    assert [compute(world) for world in WORLDS] == [value(term, world) for world in WORLDS]


def test_a_number_that_is_not_named_is_the_closest_to_zero() -> None:
    assert evaluator(Sum(((2, Variable("c", 3, 9)), (1, Variable("d", -9, -4))), 1))({}) == 3
