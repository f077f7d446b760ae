"""Minima that predicates depend on are asked about first, of signed numbers and of unsigned ones."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.automata.extremes import extremes_in
from ptxcheck.protocols.symex.values.comparisons import compared_integers
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import choose, compare, subtract
from ptxcheck.protocols.symex.values.symbol import Form, atom

SIZE = atom(Kind.PARAM, "n", 0, 4)
ROUND = atom(Kind.ORDINAL, 4)


@pytest.mark.parametrize("signed", [True, False])
def test_a_minimum_is_asked_about(signed: bool) -> None:
    condition = compared_integers(".lt", SIZE, 9, 32, signed_operands=signed)
    assert isinstance(condition, Form)
    least = choose(condition, SIZE, 9, 32)
    truth = compare(".ne", subtract(ROUND, least, 64), 0, 32, signed_operands=True)
    assert isinstance(truth, Form)
    assert list(extremes_in(truth)) == [condition]


def test_another_choice_is_not() -> None:
    condition = compare(".lt", SIZE, 9, 32, signed_operands=True)
    other = choose(condition, atom(Kind.PARAM, "m", 4, 4), 9, 32)
    truth = compare(".ne", subtract(ROUND, other, 64), 0, 32, signed_operands=True)
    assert isinstance(truth, Form)
    assert not list(extremes_in(truth))


def test_what_a_condition_depends_on_is_asked_before_it() -> None:
    """`max(min(n, m) - 4, 0)`, which rounds a loop makes that its exit tells."""
    other = atom(Kind.PARAM, "m", 4, 4)
    first = compare(".lt", SIZE, other, 32, signed_operands=True)
    lesser = subtract(choose(first, SIZE, other, 32), 4, 32)
    second = compare(".gt", lesser, 0, 32, signed_operands=True)
    truth = compare(".gt", choose(second, lesser, 0, 32), ROUND, 32, signed_operands=True)
    assert isinstance(first, Form)
    assert isinstance(second, Form)
    assert isinstance(truth, Form)
    assert [*extremes_in(truth)] == [first, second]
