"""Polls that are not repeated: they find their phase complete, or tell nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

CORPUS = Path(__file__).parents[3] / "corpus" / "protocols" / "waits"


def shown(name: str) -> Shown | Open:
    text = next(CORPUS.parent.rglob(f"{name}.ptx")).read_text(encoding="utf-8")
    return shown_for_every_count(*launched(Source("k.ptx", text), name.split(".")[0]), seconds=6.0)


def test_a_poll_ahead_is_answered_in_both_ways() -> None:
    assert isinstance(shown("looks_ahead"), Shown)


def test_what_a_poll_finds_of_another_phase_shows_nothing() -> None:
    assert isinstance(shown("looks_ahead.asks_for_the_phase_before"), Open)
    assert isinstance(shown("looks_ahead.counts_33"), Open)


def test_a_single_poll_is_no_wait() -> None:
    assert isinstance(shown("polls_with_back_off.tests_once"), Open)


def test_a_poll_that_fails_speaks_for_both_answers_where_its_thread_waits_later() -> None:
    found = shown("looks_ahead_at_both_rings")
    assert isinstance(found, Shown)
    assert found.states < 12


@pytest.mark.parametrize(
    "change",
    ["asks_for_the_phase_before", "does_not_look_again", "takes_an_old_answer", "waits_in_front_of_no_fill"],
)
def test_an_answer_that_is_kept_too_long_or_is_of_another_phase_shows_nothing(change: str) -> None:
    assert isinstance(shown(f"looks_ahead_at_both_rings.{change}"), Open)
