"""Predicates that join others: what their parts say of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.automata.junctions import junction
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import logic, negate
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom

N = atom(Kind.PARAM, "n", 0, 4)


def less(number: int) -> Form:
    return atom(Kind.CMP, ".lt", N.terms, -number)


A, B, C = less(1), less(5), less(9)


def joined(op: Op, one: Value, other: Value) -> Form:
    found = logic(op, one, other)
    assert isinstance(found, Form)
    return found


def truth_of(form: Form, known: Mapping[Form, bool | None]) -> bool | None:
    parts = junction(form)
    if parts is None:
        return known[form]
    return parts.truth(truth_of(parts.one, known), truth_of(parts.other, known))


@pytest.mark.parametrize(
    ("op", "means"), [(Op.AND, all), (Op.OR, any), (Op.XOR, lambda each: each[0] != each[1])]
)
@pytest.mark.parametrize("negated", [False, True])
def test_the_whole_is_what_the_parts_say(op: Op, means: object, negated: bool) -> None:
    form = joined(op, A, B)
    whole = negate(form) if negated else form
    assert isinstance(whole, Form)
    for one, other in product((None, False, True), repeat=2):
        may_be = {
            bool(means([first, second])) != negated  # type: ignore[operator]
            for first in ((False, True) if one is None else (one,))
            for second in ((False, True) if other is None else (other,))
        }
        assert truth_of(whole, {A: one, B: other}) is (may_be.pop() if len(may_be) == 1 else None)


def test_parts_may_be_joined_themselves() -> None:
    inner = negate(joined(Op.OR, B, C))
    whole = joined(Op.OR, A, inner)
    for a, b, c in product((False, True), repeat=3):
        assert truth_of(whole, {A: a, B: b, C: c}) is (a or not (b or c))


def test_bits_of_numbers_are_no_predicates() -> None:
    assert junction(joined(Op.AND, N, A)) is None
    assert junction(A) is None
    opposite = negate(A)
    assert isinstance(opposite, Form)
    assert junction(opposite) is None


def test_a_part_may_be_a_negation() -> None:
    below = atom(Kind.BELOW, N.terms, 0, 7)
    opposite = negate(below)
    assert isinstance(opposite, Form)
    parts = junction(joined(Op.AND, A, opposite))
    assert parts is not None
    assert {parts.one, parts.other} == {A, opposite}
