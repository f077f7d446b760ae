"""Laws of the value lattice, and what single operations keep."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.cfg.arithmetic import (
    add,
    mul,
    shift_left,
    shift_right,
    sign_extend,
    sub,
    truncate,
    zero_extend,
)
from ptxcheck.cfg.bits import bit_and, bit_or, bit_xor
from ptxcheck.cfg.compare import Relation, constrain, decide
from ptxcheck.cfg.linear import Atom, AtomKind
from ptxcheck.cfg.values import (
    Value,
    between,
    exactly,
    join,
    meet,
    of_atom,
    reduced,
    top,
    widen,
)

WIDTH = 8
MASK = (1 << WIDTH) - 1
numbers = st.integers(0, MASK)


@st.composite
def values(draw: st.DrawFn) -> Value:
    """Return a value of eight bits that is not empty, by constraints around one member."""
    member, low, high = draw(numbers), draw(numbers), draw(numbers)
    known = draw(numbers)
    modulus = draw(st.sampled_from((1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 64)))
    value = reduced(
        WIDTH, min(low, member), max(high, member), member & known, member | ~known & MASK, modulus, member
    )
    assert value is not None
    return value


def members(value: Value) -> set[int]:
    return {number for number in range(MASK + 1) if value.may_be(number)}


@st.composite
def values_with_a_member(draw: st.DrawFn) -> tuple[Value, int]:
    """Return a value and any of its members: most numbers are members of no value that was drawn without them."""
    value = draw(values())
    return value, draw(st.sampled_from(sorted(members(value))))


@given(values(), numbers)
def test_reduction_loses_no_member_and_keeps_bounds_tight(value: Value, number: int) -> None:
    found = members(value)
    assert found
    assert value.low in range(min(found) + 1)
    assert value.high >= max(found)
    if value.may_be(number):
        assert value.low <= number <= value.high


@given(values(), values())
def test_join_is_an_upper_bound(a: Value, b: Value) -> None:
    assert members(join(a, b)) >= members(a) | members(b)
    assert members(join(a, a)) == members(a)
    assert join(a, b)[:7] == join(b, a)[:7]


@given(values(), values())
def test_meet_keeps_what_is_in_both(a: Value, b: Value) -> None:
    common = meet(a, b)
    assert (members(common) if common is not None else set()) >= members(a) & members(b)


@given(values(), st.lists(values(), min_size=1, max_size=30), st.lists(numbers, max_size=3).map(sorted))
def test_widening_bounds_and_ends(start: Value, others: list[Value], thresholds: list[int]) -> None:
    current, changes = start, 0
    for other in others * 3:
        wider = widen(current, join(current, other), thresholds)
        assert members(wider) >= members(current) | members(other)
        changes += wider[:7] != current[:7]
        current = wider
    assert changes <= 2 * (len(thresholds) + 2) + 4 * WIDTH


@given(values_with_a_member(), values_with_a_member())
def test_operations_are_sound(first: tuple[Value, int], second: tuple[Value, int]) -> None:
    (a, x), (b, y) = first, second
    assert add(a, b).may_be(x + y & MASK)
    assert sub(a, b).may_be(x - y & MASK)
    assert mul(a, b).may_be(x * y & MASK)
    assert bit_and(a, b).may_be(x & y)
    assert bit_or(a, b).may_be(x | y)
    assert bit_xor(a, b).may_be(x ^ y)
    signed = x - 256 if x >> 7 else x
    for amount in (0, 1, 3, 7, 8):
        assert shift_right(a, amount, signed=False).may_be(x >> amount)
        assert shift_right(a, amount, signed=True).may_be(signed >> amount & MASK)
    assert zero_extend(a, 16).may_be(x)
    assert sign_extend(a, 16).may_be(signed & 0xFFFF)
    assert truncate(a, 5).may_be(x & 31)


@given(values_with_a_member(), st.sampled_from(Relation), numbers, st.booleans())
def test_constraints_keep_what_agrees(
    one: tuple[Value, int], relation: Relation, y: int, signed: bool
) -> None:
    value, x = one
    a, b = ((n - 256 if n >> 7 else n) if signed else n for n in (x, y))
    holds = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[relation.value]
    decided = decide(relation, value, exactly(y, WIDTH), signed)
    assert decided is None or decided == holds
    kept = constrain(value, relation, y, signed)
    if holds:
        assert kept is not None
        assert kept.may_be(x)


def test_rounding_down_proves_alignment() -> None:
    base = of_atom(Atom(AtomKind.ADDRESS, "smem", space=".shared"), between(0, 1 << 20, 32))
    aligned = bit_and(add(base, exactly(1023, 32)), exactly(~1023, 32))
    assert aligned.divisible(1024) is True
    assert aligned.divisible(2048) is None


def test_masks_that_only_drop_known_bits_keep_the_symbol() -> None:
    base = of_atom(
        Atom(AtomKind.ADDRESS, "smem", space=".shared"),
        reduced(32, 0, 1 << 20, 0, (1 << 21) - 1, 1024, 0) or top(32),
    )
    aligned = bit_and(add(base, exactly(1023, 32)), exactly(~1023, 32))
    assert aligned.linear == base.linear


def test_negative_offsets_do_not_count_as_exact() -> None:
    wrapped = add(of_atom(Atom(AtomKind.SPECIAL, "%tid.x"), between(0, 2, 32)), exactly(-4, 32))
    assert not wrapped.exact
    assert zero_extend(wrapped, 64).linear is None
    kept = add(of_atom(Atom(AtomKind.SPECIAL, "%tid.x"), between(4, 9, 32)), exactly(-4, 32))
    assert kept.exact
    assert (kept.low, kept.high) == (0, 5)


def test_divisibility_has_three_answers() -> None:
    value = reduced(32, 0, 1 << 20, 0, (1 << 32) - 1, 16, 8)
    assert value is not None
    assert value.divisible(8) is True
    assert value.divisible(16) is False
    assert value.divisible(24) is None
    assert value.divisible(32) is False


def test_shifting_everything_out_leaves_zero() -> None:
    assert shift_left(exactly(5, 32), between(40, 50, 32)).constant == 0
    assert shift_left(exactly(1, 32), between(0, 3, 32)).high == 8
