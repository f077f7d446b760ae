"""Polls that are not repeated: they find their phase complete, or tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.automata.nodes import Node
from ptxcheck.protocols.model.actions import Wait
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.product.repeated_waits import _Pair, _Place, _Walk
from ptxcheck.protocols.product.roles import Step
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from tests.protocols.building import FULL

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


class Walk(_Walk):
    """A strand that waits as it is told behind a poll which succeeds, and does nothing behind one that fails."""

    def __init__(self, waits: Sequence[Wait]) -> None:
        self.waits = tuple(waits)

    def _step(self, place: _Place) -> Step:
        node = Node(place.node, 0, 1, (), ())
        return Step(0, node, self.waits if place == SUCCEEDED else (), ())

    def _loops(self, place: _Place) -> tuple[int, ...]:
        return ()

    def _onward(self, pair: _Pair) -> list[_Pair]:
        return [pair]


SUCCEEDED, FAILED = _Place(1, ()), _Place(2, ())
WAITS = Wait(7, FULL, 1)


def test_equal_waits_of_one_poll_are_one() -> None:
    """A strand whose lanes poll by several events at once waits as often, for one phase."""
    polled = _Pair(SUCCEEDED, FAILED, WAITS.point, ())
    assert Walk([WAITS])._together(polled) == [polled._replace(owed=WAITS)]
    assert Walk([WAITS, replace(WAITS)])._together(polled) == [polled._replace(owed=WAITS)]
    assert Walk([WAITS, replace(WAITS, parity=0)])._together(polled) is None
