"""A share of an effort spends of the whole."""

from __future__ import annotations

import pytest

from ptxcheck.terms.effort import COST, UNITS_PER_SECOND, Effort, Work


def test_a_share_of_what_is_left_spends_of_both() -> None:
    whole = Effort(1.0)
    whole.spend(Work.STATE, UNITS_PER_SECOND // COST[Work.STATE] // 2)
    spent = whole.spent
    part = whole.share_of_rest(0.5)
    assert part.limit is not None
    assert whole.limit is not None
    assert part.limit == (whole.limit - spent) // 2
    while not part.is_over:
        part.spend(Work.STATE)
    assert whole.spent == spent + part.spent
    assert not whole.is_over


def test_a_share_of_an_effort_without_a_limit_has_none() -> None:
    whole = Effort()
    part = whole.share_of_rest(0.1)
    part.spend(Work.STATE, 10)
    assert part.limit is None
    assert whole.spent == part.spent > 0


def test_a_share_that_the_clock_ends_ends_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Effort(1.0)
    part = whole.share_of_rest(0.5)
    monkeypatch.setattr("time.process_time", lambda: float("inf"))
    assert part.is_over
    assert whole.was_braked


def test_an_effort_that_is_extended_goes_on_as_long_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.process_time", lambda: 100.0)
    whole = Effort(10.0)
    whole.spend(Work.STATE, 10 * UNITS_PER_SECOND // COST[Work.STATE] + 1)
    assert whole.is_over
    whole.extend(2)
    assert not whole.is_over
    whole.spend(Work.STATE, 10 * UNITS_PER_SECOND // COST[Work.STATE] + 1)
    assert whole.is_over
