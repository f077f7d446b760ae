"""The exclusive or of values without those that are in it twice."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as some

from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import bitwise
from ptxcheck.protocols.symex.values.substitution import with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom

NAMES = [atom(Kind.PARAM, name, 0, 4) for name in "abcd"]
PARTS = some.lists(some.one_of(some.sampled_from(NAMES), some.integers(0, 255)), min_size=1, max_size=9)


def exclusive(parts: list[Form | int]) -> Value:
    found: Value = 0
    for part in parts:
        found = bitwise(Op.XOR, found, part)
    return found


@given(PARTS, some.lists(some.integers(0, 255), min_size=4, max_size=4))
def test_it_is_the_same_number(parts: list[Form | int], numbers: list[int]) -> None:
    at = {name.terms[0][0]: number for name, number in zip(NAMES, numbers, strict=True)}
    found = exclusive(parts)
    made = with_pins(found, at, 1) if isinstance(found, Form) else found
    wanted = [at[part.terms[0][0]] if isinstance(part, Form) else part for part in parts]
    assert made == reduce(lambda one, other: one ^ other, wanted)


@given(PARTS, some.randoms(use_true_random=False))
def test_order_does_not_matter_and_pairs_fall_out(parts: list[Form | int], random: object) -> None:
    shuffled = [*parts, NAMES[0], NAMES[0]]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert exclusive(shuffled) == exclusive(parts)
