"""Weakened claims: what is hard is left open, and nothing else changes."""

from __future__ import annotations

from itertools import product

from ptxcheck.terms.bit_pool import Pool
from ptxcheck.terms.smt import BitVectorSolver
from ptxcheck.terms.weakening import Weakening, is_hard

EFFORT = 1_000_000


def test_what_holds_holds_weakened() -> None:
    # Each claim about a quotient that some numbers meet is met by the weakened claim, too.
    pool = Pool()
    a, b = pool.variable("a", 8), pool.variable("b", 8)
    weakening, solver = Weakening(pool), BitVectorSolver()
    quotient = pool.divide(a, b, signed=False, rest=False)
    assert is_hard(quotient)
    for x, y in product((0, 7, 200, 255), (1, 3, 255)):
        claims = (
            pool.eq(a, pool.number(x, 8)),
            pool.eq(b, pool.number(y, 8)),
            pool.eq(quotient, pool.number(x // y, 8)),
        )
        assert solver.numbers(weakening.of(claims), (), EFFORT) is not None


def test_equal_terms_have_one_variable() -> None:
    pool = Pool()
    a, b, c = (pool.variable(name, 64) for name in "abc")
    weakening, solver = Weakening(pool), BitVectorSolver()
    far = pool.mul(a, b)
    same = (pool.not_(pool.eq(pool.add(far, c), pool.add(c, pool.mul(b, a)))),)
    assert solver.numbers(weakening.of(same), (), EFFORT) is None
    other = (pool.eq(far, pool.add(pool.mul(a, c), pool.number(1, 64))),)
    assert solver.numbers(weakening.of(other), (), EFFORT) is not None


def test_bounds_of_what_is_left_open_stay() -> None:
    pool = Pool()
    a, b = pool.variable("a", 32, 0, 7), pool.variable("b", 32, 0, 7)
    (claim,) = Weakening(pool).of((pool.ult(pool.number(2, 32), pool.mul(a, b)),))
    (variable,) = (part for part in claim.parts if part.constant is None)
    assert (variable.low, variable.high) == (0, 49)


def test_what_is_easy_is_itself() -> None:
    pool = Pool()
    a, b = pool.variable("a", 32), pool.variable("b", 32)
    claims = (
        pool.ult(pool.add(a, pool.number(3, 32)), b),
        pool.eq(pool.divide(a, pool.number(10, 32), signed=False, rest=True), b),
    )
    assert Weakening(pool).of(claims) == claims
