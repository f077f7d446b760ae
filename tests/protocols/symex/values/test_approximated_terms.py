"""Sizes that are empty in a path, and parameters that are zero in it."""

from __future__ import annotations

import pytest

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.approximated_terms import empty_sizes, zeros
from ptxcheck.protocols.symex.values.symbol import Condition, Form, atom, show_atom


def test_parameters_that_are_zero_in_a_path_are_told() -> None:
    flag, pointer = atom("param", "flag", 0, 4), atom("param", "pointer", 8, 8)
    factor = atom("setp", ".eq", atom("param", "factor", 16, 4).terms[0][0], 0)
    path = [
        (is_zero_condition(form), truth) for form, truth in ((flag, True), (pointer, False), (factor, True))
    ]
    told = {show_atom(name).partition("+")[0]: is_zero for name, is_zero in zeros(path).items()}
    assert told == {"flag": True, "pointer": False, "factor": False}


def is_zero_condition(form: Form) -> Condition:
    return Condition("eq", form, 0)


N = atom("param", "n", 0, 4)
M = atom("param", "m", 0, 4)


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
    ("other", "is_empty"),
    [
        ((Condition("below", N, 2), True), True),
        ((Condition("below", M, 2), True), False),
        ((Condition("eq", N, 2), False), False),
    ],
    ids=["ordered", "another one is", "equality alone"],
)
def test_a_size_is_empty_where_it_is_the_least_of_numbers_without_a_sign(
    other: tuple[Condition, bool], is_empty: bool
) -> None:
    assert bool(empty_sizes([other, (Condition("eq", N, 0), True)])) == is_empty
    assert empty_sizes([other, (Condition("eq", N, 0), False)]) == ()


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
