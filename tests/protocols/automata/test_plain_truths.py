"""Predicates on a choice between two numbers."""

from __future__ import annotations

import pytest

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.automata.plain_truths import plain
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import bitwise, choose, compare, negate
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom

CONDITION = compare(".lt", atom(Kind.PARAM, "n", 0, 4), 7, 32, signed_operands=True)


def chosen(one: int, other: int, relation: str, bound: int, *, signed: bool = True) -> Value:
    made = compare(relation, choose(CONDITION, one, other, 32), bound, 32, signed_operands=signed)
    assert isinstance(made, Form)
    return plain(made)


@pytest.mark.parametrize(
    ("one", "other", "relation", "bound", "holds"),
    [
        (1, 0, ".eq", 1, True), (1, 0, ".ne", 0, True), (0, 1, ".eq", 1, False), (5, 3, ".lt", 4, False),
        (3, 5, ".le", 4, True), (3, 5, ".ge", 4, False), (9, 2, ".gt", 2, True),
    ],
)  # fmt: skip
def test_it_is_the_condition_or_its_opposite(
    one: int, other: int, relation: str, bound: int, holds: bool
) -> None:
    assert chosen(one, other, relation, bound) == (CONDITION if holds else negate(CONDITION))


def test_unsigned_comparisons() -> None:
    assert chosen(3, 12, ".lo", 8, signed=False) == CONDITION


def test_what_both_numbers_decide_is_a_number() -> None:
    assert chosen(1, 0, ".lt", 2) == 1
    assert chosen(1, 2, ".eq", 0) == 0


def test_large_numbers_stay_as_they_are() -> None:
    made = compare(".eq", choose(CONDITION, 1 << 32, 0, 32), 0, 64, signed_operands=True)
    assert isinstance(made, Form)
    assert plain(made) == made


def test_a_choice_inside_a_choice_by_one_condition() -> None:
    inner = choose(CONDITION, 3, 4, 32)
    assert choose(CONDITION, inner, 5, 32) == choose(CONDITION, 3, 5, 32)
    assert choose(negate(CONDITION), inner, 5, 32) == choose(negate(CONDITION), 4, 5, 32)
    assert choose(CONDITION, 3, inner, 32) == choose(CONDITION, 3, 4, 32)


@pytest.mark.parametrize(
    ("op", "bits", "relation", "bound", "holds"),
    [
        (Op.AND, 255, ".ne", 0, True),
        (Op.AND, 1, ".eq", 0, False),
        (Op.XOR, 1, ".eq", 1, False),
        (Op.OR, 4, ".lt", 5, False),
    ],
)
def test_masks_of_a_choice(op: Op, bits: int, relation: str, bound: int, holds: bool) -> None:
    made = compare(relation, bitwise(op, choose(CONDITION, 1, 0, 32), bits), bound, 32, signed_operands=True)
    assert isinstance(made, Form)
    assert plain(made) == (CONDITION if holds else negate(CONDITION))
