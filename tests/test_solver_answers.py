"""Answers that are found by changing an earlier one: each is checked, whatever the terms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.terms.integers import (
    Choice,
    Claim,
    Quotient,
    Remainder,
    Sum,
    Term,
    Unsigned,
    Variable,
)
from ptxcheck.terms.smt import PathSolver, paths

NAMES = tuple(Variable(name, low, 40) for name, low in (("a", -40), ("b", 0), ("c", -40)))


def _larger(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    factor = st.integers(-3, 3).filter(bool)
    claims = st.builds(Claim, st.sampled_from(("lt", "eq")), inner, st.integers(-9, 9), st.booleans())
    return st.one_of(
        st.builds(
            lambda a, b, j, k, n: Sum(((j, a), (k, b)), n), inner, inner, factor, factor, st.integers(-9, 9)
        ),
        st.builds(Quotient, inner, st.integers(1, 5)),
        st.builds(Remainder, inner, st.integers(1, 5)),
        st.builds(Unsigned, inner),
        st.builds(Choice, claims, inner, inner),
    )


TERMS: st.SearchStrategy[Term] = st.recursive(st.sampled_from(NAMES), _larger, max_leaves=5)
CLAIMS = st.builds(Claim, st.sampled_from(("lt", "eq")), TERMS, st.integers(-9, 9), st.booleans())


@given(st.lists(st.lists(CLAIMS, min_size=1, max_size=4), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_answers_do_not_depend_on_what_was_asked_before(questions: list[list[Claim]]) -> None:
    asked_all = PathSolver()
    for claims in questions:
        answer, alone = asked_all.possible(claims), PathSolver().possible(claims)
        assert answer is None or alone is None or answer == alone


@given(st.lists(CLAIMS, min_size=1, max_size=6), st.lists(CLAIMS, min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_a_path_that_grows_is_the_same_as_its_claims(decided: list[Claim], asked: list[Claim]) -> None:
    solver = PathSolver()
    path: list[Claim] = []
    for claim, question in zip(decided, asked, strict=False):
        path.append(claim)
        answer, alone = solver.possible([question], path), PathSolver().possible([*path, question])
        assert answer is None or alone is None or answer == alone
    other: list[Claim] = list(reversed(path))
    answer, alone = solver.possible([], other), PathSolver().possible(other)
    assert answer is None or alone is None or answer == alone


def test_the_sign_of_a_size_is_found_on_either_side() -> None:
    """A quotient read as unsigned is large for large numbers and for negative ones; only the latter are left."""
    size = Variable("k", -(1 << 31), (1 << 31) - 1)
    tiles = Unsigned(Quotient(Sum(((1, size),), 63), 64))
    solver = PathSolver()
    claims = [Claim("lt", size, 1), Claim("lt", tiles, 7, holds=False)]
    assert solver._find_model(claims) is not None


def test_terms_of_many_operations_are_left_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [Claim("eq", Remainder(Sum(((1, NAMES[0]),), 1), 5), 3)]
    assert PathSolver()._find_model(claims) is not None
    monkeypatch.setattr(paths, "_REPAIR_EFFORT", 0)
    assert PathSolver()._find_model(claims) is None
    assert PathSolver().possible(claims)


def test_where_the_solver_has_no_answer_more_is_changed_in_earlier_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of eight numbers has to change, which is more than is tried before the solver is asked."""
    claims = [Claim("eq", Variable(name, 0, 40), number) for number, name in enumerate("abcdefgh", start=1)]
    solver = PathSolver()
    assert solver._find_model(claims) is None
    monkeypatch.setattr(paths, "answer_of", lambda *_: solver._z3.unknown)
    assert solver.possible(claims)
    assert solver.example(claims, claims[2].term) == 3


def test_little_effort_is_made_first_and_more_where_that_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims = [Claim("eq", Remainder(Sum(((1, NAMES[0]),), 1), 5), 3)]
    solver = PathSolver()
    efforts: list[int] = []
    monkeypatch.setattr(paths, "_REPAIR_EFFORT", 0)
    monkeypatch.setattr(solver._solver, "set", lambda _, effort: efforts.append(effort))
    assert solver.possible(claims)
    monkeypatch.setattr(paths, "answer_of", lambda *_: solver._z3.unknown)
    assert solver.possible([Claim("eq", NAMES[1], 7)]) is None
    assert efforts == [paths._FIRST_EFFORT, paths._FIRST_EFFORT, paths._EFFORT]
