"""Symbols: identity, what may differ between threads, what decisions imply."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.substitution import rebuild, with_pins
from ptxcheck.protocols.symex.values.symbol import (
    LANE,
    WARP,
    Condition,
    Decisions,
    Form,
    ImpossibleError,
    Lanes,
    Value,
    atom,
)

N = atom("param", "n", 0, 4)
M = atom("param", "m", 4, 4)
TID = np.arange(128, dtype=np.uint64)


def _form(value: Value) -> Form:
    assert isinstance(value, Form)
    return value


def test_equal_computations_are_equal_symbols_and_others_are_not() -> None:
    one, two = (_form(lanes.shift_right(lanes.add(N, 63, 32), 6, 32, arithmetic=True)) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != lanes.shift_right(lanes.add(N, 62, 32), 6, 32, arithmetic=True)
    assert lanes.opaque("f", 1, 23) != lanes.opaque("f", 12, 3)


@pytest.mark.parametrize(
    ("values", "differs"),
    [(TID, LANE | WARP), (TID % 32, LANE), (TID // 32, WARP), (np.zeros(128, dtype=np.uint64), 0)],
)
def test_differs_says_between_which_threads(values: Lanes, differs: int) -> None:
    assert lanes.differs_of(values) == differs
    if differs:
        assert _form(lanes.add(N, values, 32)).differs == differs


def test_deep_symbols_stay_small_and_apart() -> None:
    def nest(seed: int) -> Form:
        value: Value = atom("param", "n", seed, 4)
        for index in range(400):
            value = lanes.opaque("f", value, value, index % 7)
        return _form(value)

    assert nest(0) == nest(0)
    assert nest(0) != nest(4)
    assert len(str(nest(0))) < 10_000


@given(
    st.integers(-1000, 1000),
    st.integers(-40, 40),
    st.sampled_from(["lt", "eq", "ne", "below"]),
    st.booleans(),
)
def test_a_decision_is_implied_afterwards(offset: int, bound: int, relation: str, truth: bool) -> None:
    decisions = Decisions(SolverOracle())
    condition = Condition(relation, _form(lanes.add(N, offset & 0xFFFFFFFF, 32)), max(bound, 1))
    decisions.assume(condition, truth)
    assert decisions.implied(condition) is truth


@given(st.integers(-200, 200), st.integers(1, 300), st.integers(0, 6))
def test_solver_agrees_with_arithmetic(number: int, bound: int, shift: int) -> None:
    """With n pinned by two decisions, what is implied of shifts, masks and unsigned orders is what n gives."""
    decisions = Decisions(SolverOracle())
    decisions.assume(Condition("lt", N, number), False)
    decisions.assume(Condition("lt", N, number + 1), True)
    shifted = _form(lanes.shift_right(lanes.add(N, 5, 32), shift + 1, 32, arithmetic=True))
    assert decisions.implied(Condition("lt", shifted, bound)) is ((number + 5) >> shift + 1 < bound)
    masked = _form(lanes.bitwise(Op.AND, N, (1 << shift + 1) - 1))
    assert decisions.implied(Condition("eq", masked, 3)) is (number & (1 << shift + 1) - 1 == 3)
    middle = _form(lanes.bitwise(Op.AND, N, 0x3F8 << shift))
    assert decisions.implied(Condition("lt", middle, bound)) is (number & 0x3F8 << shift < bound)
    assert decisions.implied(Condition("below", N, bound)) is (number & 0xFFFFFFFF < bound)


def test_choices_with_negative_numbers_keep_their_sign() -> None:
    """-(n < 3 ? -1 : 0) + 4 is 5 or 4, though -1 is kept as the bits of a register."""
    truth = _form(lanes.compare(".lt", N, 3, 32, signed_operands=True))
    chosen = lanes.choose(truth, 0xFFFFFFFF, 0, 128)
    value = _form(lanes.add(lanes.subtract(0, chosen, 32), 4, 32))
    assert rebuild(value, lambda _: True, 128) == 5
    assert rebuild(value, lambda _: False, 128) == 4


@pytest.mark.parametrize("answer", [True, False])
def test_what_is_not_chosen_is_not_asked(answer: bool) -> None:
    first, then, last = (
        _form(lanes.compare(".lt", N, bound, 32, signed_operands=True)) for bound in (3, 5, 7)
    )
    asked = []

    def decide(predicate: Form) -> bool:
        asked.append(predicate)
        return answer

    rebuild(_form(lanes.choose(first, then, last, 128)), decide, 128)
    assert asked == [first, then if answer else last]


def test_pins_make_what_depends_on_them_numbers() -> None:
    tiles = _form(lanes.shift_right(N, 6, 32, arithmetic=True))
    decisions = Decisions(SolverOracle())
    decisions.assume(Condition("lt", tiles, 3), False)
    decisions.assume(Condition("lt", tiles, 4), True)
    stage = _form(lanes.bitwise(Op.AND, tiles, 1))
    assert with_pins(lanes.multiply(stage, 8, 32), decisions.pins, 128) == 8  # type: ignore[arg-type]


def test_decisions_that_contradict_are_noticed() -> None:
    decisions = Decisions(SolverOracle())
    odd = lanes.opaque("mul", N, M)
    decisions.assume(Condition("eq", odd, 5), True)
    with pytest.raises(ImpossibleError):
        decisions.restate(lambda form: 4 if form == odd else form)
