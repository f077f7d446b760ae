"""What is known of a number, against all numbers of a small range."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.product.intervals import Interval
from ptxcheck.protocols.product.question_sites import filled

BOUNDS = st.none() | st.integers(-6, 6)
INTERVALS = st.builds(Interval, BOUNDS, BOUNDS, st.frozensets(st.integers(-6, 6), max_size=3))
RANGE = range(-12, 13)


def numbers(known: Interval) -> set[int]:
    return {
        n
        for n in RANGE
        if (known.low is None or n >= known.low)
        and (known.high is None or n <= known.high)
        and n not in known.excluded
    }


@given(INTERVALS, INTERVALS)
def test_both(one: Interval, other: Interval) -> None:
    assert numbers(one.within(other)) == numbers(one) & numbers(other)


@given(INTERVALS, st.lists(st.integers(-6, 6), max_size=4))
def test_rounded_keeps_all_numbers_and_every_answer_at_the_marks(known: Interval, marks: list[int]) -> None:
    known = known.within(Interval())
    rounded = known.rounded(sorted(set(marks)))
    assert numbers(known) <= numbers(rounded)
    for mark in marks:
        assert rounded.is_below(mark) == known.is_below(mark)


@given(INTERVALS, st.integers(-6, 6), st.booleans())
def test_answers(known: Interval, threshold: int, truth: bool) -> None:
    assert numbers(known.with_below(threshold, truth)) == {
        n for n in numbers(known) if (n < threshold) == truth
    }
    answer = known.is_below(threshold)
    if answer is not None:
        assert all((n < threshold) == answer for n in numbers(known))


@pytest.mark.parametrize(
    ("known", "number"),
    [
        (Interval(-4), 0),
        (Interval(3), 3),
        (Interval(None, -2), -2),
        (Interval(-4, -2), -4),
        (Interval(None, 5), 0),
        (Interval(-4, 5, frozenset({0})), 1),
    ],
)
def test_an_example_is_no_negative_number_if_it_need_not_be(known: Interval, number: int) -> None:
    assert known.example == number


def answers(known: Interval, thresholds: range) -> list[tuple[bool | None, bool | None]]:
    return [(known.is_below(each), known.is_equal(each)) for each in thresholds]


@given(INTERVALS, st.integers(-8, 8))
def test_what_later_thresholds_ask_for(known: Interval, bound: int) -> None:
    known = known.within(Interval())
    if known.is_empty:
        return
    above, below = range(bound, bound + 18), range(bound - 17, bound + 1)
    assert answers(known.from_on(bound), above) == answers(known, above)
    assert answers(known.up_to(bound), below) == answers(known, below)


@given(INTERVALS, INTERVALS, st.integers(-8, 8))
def test_what_answers_later_thresholds_alike_is_one(one: Interval, other: Interval, bound: int) -> None:
    one, other = one.within(Interval()), other.within(Interval())
    if one.is_empty or other.is_empty:
        return
    above, below = range(bound, bound + 18), range(bound - 17, bound + 1)
    if answers(one, above) == answers(other, above):
        assert one.from_on(bound) == other.from_on(bound)
    if answers(one, below) == answers(other, below):
        assert one.up_to(bound) == other.up_to(bound)


def test_numbers_between_thresholds_are_thresholds_if_they_are_few() -> None:
    assert filled({1, 4}) == (1, 2, 3, 4)
    assert filled({1, 400}) == (1, 400)
    assert Interval(2, 2).rounded(filled({1, 4})) == Interval(2, 2)
    assert Interval(2, 2).rounded((1, 4)) == Interval(1, 3)
