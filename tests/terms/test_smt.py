"""The door to solvers: pySMT's formulas say what terms compute, and a second solver confirms what z3 refutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.environment import Environment

from ptxcheck.terms.bit_pool import Pool
from ptxcheck.terms.bitvectors import Bits
from ptxcheck.terms.effort import Effort
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
    is_true,
)
from ptxcheck.terms.refutations import SECOND_SOLVERS, heard
from ptxcheck.terms.smt import BitVectorSolver, MissingSolverError, Obligations, PathSolver, SecondSolver
from ptxcheck.terms.smt.formulas import MOST_BITS, TooWideError, Words, ranges_of

X, Y = Variable("x!|{}", -3, 4), Variable("load(p + 8)", 0, 5)
LARGE = Variable("n", -(1 << 31), (1 << 31) - 1)

INSTALLED = [name for name in SECOND_SOLVERS if find_spec(name) is not None]
with_second_solver = pytest.mark.parametrize(
    "solver",
    [
        pytest.param(name, marks=() if name in INSTALLED else pytest.mark.skip("not installed"))
        for name in SECOND_SOLVERS
    ],
)


def _nested(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    number = st.integers(-6, 6)
    claims = st.builds(Claim, st.sampled_from(["lt", "eq"]), inner, number, st.booleans())
    return st.one_of(
        st.builds(
            lambda parts, constant: Sum(tuple(parts), constant),
            st.lists(st.tuples(st.integers(-3, 3), inner), max_size=3),
            number,
        ),
        st.builds(Quotient, inner, st.integers(1, 5)),
        st.builds(Remainder, inner, st.integers(1, 5)),
        st.builds(Unsigned, inner, st.just(32)),
        st.builds(Choice, claims, inner, inner),
    )


TERMS = st.recursive(st.sampled_from([X, Y]), _nested, max_leaves=6)
CLAIMS = st.lists(
    st.builds(Claim, st.sampled_from(["lt", "eq"]), TERMS, st.integers(-8, 8), st.booleans()),
    min_size=1,
    max_size=3,
)


def _by_trying(claims: Sequence[Claim]) -> bool:
    numbers = ({X.name: x, Y.name: y} for x, y in product(range(X.low, X.high + 1), range(Y.low, Y.high + 1)))
    return any(all(is_true(claim, evaluator(claim.term)(each)) for claim in claims) for each in numbers)


@settings(max_examples=60, deadline=None)
@given(CLAIMS)
def test_pysmt_agrees_with_trying_all_numbers(claims: list[Claim]) -> None:
    assert Obligations().possible(claims) is _by_trying(claims)


@with_second_solver
@settings(max_examples=60, deadline=None)
@given(claims=CLAIMS)
def test_second_solvers_agree_with_trying_all_numbers(solver: str, claims: list[Claim]) -> None:
    assert SecondSolver(solver).refutes(claims) is not _by_trying(claims)


@settings(max_examples=100, deadline=None)
@given(TERMS, st.integers(X.low, X.high), st.integers(Y.low, Y.high))
def test_ranges_hold_what_a_term_computes(term: Term, x: int, y: int) -> None:
    low, high = ranges_of(term)[term]
    assert low <= evaluator(term)({X.name: x, Y.name: y}) <= high


ROUNDED_UP = Quotient(Sum(((1, LARGE),), 63), 64)
IMPOSSIBLE = [
    [Claim("lt", Sum(((64, ROUNDED_UP), (-1, LARGE)), 0), 0)],
    [Claim("lt", Unsigned(LARGE), 0)],
    [Claim("eq", Sum(((1, Remainder(LARGE, 7)), (7, Quotient(LARGE, 7)), (-1, LARGE)), 0), 0, holds=False)],
]


@with_second_solver
@pytest.mark.parametrize("claims", IMPOSSIBLE)
def test_second_solvers_confirm_what_z3_refutes_of_whole_words(solver: str, claims: list[Claim]) -> None:
    assert PathSolver().possible(claims) is False
    assert SecondSolver(solver).refutes(claims) is True


def test_words_that_are_too_wide_are_not_asked_about() -> None:
    wide = Sum(((1 << MOST_BITS, LARGE),), 0)
    with pytest.raises(TooWideError):
        Words(Environment(), [Claim("lt", wide, 0)])


def test_what_is_impossible_is_heard_with_all_that_it_needs() -> None:
    """Confirmed it is only with what was assumed for good, and without claims that play no part."""
    solver, path = PathSolver(), [Claim("lt", Y, 5), Claim("lt", X, 2)]
    solver.assume(Claim("eq", Remainder(X, 2), 0))
    with heard() as found:
        assert solver.possible([Claim("eq", X, 1)], path) is False
        assert Obligations().possible([Claim("lt", Y, 0)]) is False
        assert solver.possible([Claim("eq", X, 0)], path) is True
    of_path, alone = map(set, found.integers)
    assert of_path >= {Claim("eq", Remainder(X, 2), 0), Claim("eq", X, 1)}
    assert path[0] not in of_path
    assert alone == {Claim("lt", Y, 0)}
    solver.possible([Claim("eq", X, 3)], path)
    assert len(found) == 2, "nobody listens any more"


def test_obligations_count_their_effort() -> None:
    effort = Effort()
    assert Obligations(effort).is_valid(Claim("lt", X, 5))
    assert effort.spent > 0


OPERATIONS: dict[str, Callable[[Pool, Bits, Bits], Bits]] = {
    "add": Pool.add, "sub": Pool.sub, "mul": Pool.mul, "and": Pool.and_, "or": Pool.or_, "xor": Pool.xor,
    "shl": Pool.shl, "lshr": Pool.lshr, "ashr": Pool.ashr,
    "udiv": lambda pool, a, b: pool.divide(a, b, signed=False, rest=False),
    "urem": lambda pool, a, b: pool.divide(a, b, signed=False, rest=True),
    "sdiv": lambda pool, a, b: pool.divide(a, b, signed=True, rest=False),
    "srem": lambda pool, a, b: pool.divide(a, b, signed=True, rest=True),
    "choice": lambda pool, a, b: pool.choice(pool.slt(a, b), pool.not_(a), pool.neg(b)),
    "less": lambda pool, a, b: pool.zext(pool.ult(a, b), a.width),
    "halves": lambda pool, a, b: pool.sext(pool.extract(pool.add(a, b), 4, 8), a.width),
    "wide": lambda pool, a, b: pool.extract(pool.mul(pool.sext(a, 64), pool.zext(b, 64)), 32, 32),
}  # fmt: skip


@with_second_solver
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("numbers", [(0x80000005, 0xFFFFFFF9), (77, 6), (0x12345678, 31)])
def test_second_solvers_compute_registers_as_terms_do(
    solver: str, name: str, numbers: tuple[int, int]
) -> None:
    """What an operation gives for numbers is the only thing that it can give."""
    pool, operation, second = Pool(), OPERATIONS[name], SecondSolver(solver)
    a, b = pool.variable("a{|}", 32), pool.variable("b", 32)
    given = [pool.eq(each, pool.number(n, 32)) for each, n in zip((a, b), numbers, strict=True)]
    right = operation(pool, *(pool.number(n, 32) for n in numbers)).constant
    assert right is not None
    same = pool.eq(operation(pool, a, b), pool.number(right, 32))
    assert second.refutes_registers([*given, pool.not_(same)]) is True
    assert second.refutes_registers([*given, same]) is False
    with heard() as found:
        assert BitVectorSolver().numbers([*given, pool.not_(same)], [], 10_000_000) is None
    assert list(found.registers) == [(*given, pool.not_(same))]


def test_a_solver_that_is_not_there_is_told_with_what_installs_it() -> None:
    with pytest.raises(MissingSolverError, match=r"pip install 'ptxcheck\[cross-check\]'"):
        SecondSolver("no-such-solver")
