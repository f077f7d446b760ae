"""A search for repairs counts its work; no clock ends it."""

from __future__ import annotations

import time

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.search import repair
from ptxcheck.repair.search_effort import SearchEffort
from ptxcheck.repair.weighing import Assembler
from ptxcheck.rules import RULES
from ptxcheck.rules.protocol_kernels import RING, changed

WRONG = changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;"))


def judge() -> TextJudge:
    return TextJudge("k.ptx", RULES, Config(verify_seconds=2))


def test_what_is_judged_is_counted_once() -> None:
    effort, own = SearchEffort(limit=0.0), judge()
    counted = effort.counted(own)
    assert not effort.is_over
    counted(RING)
    first = effort.spent
    assert first > 0
    assert effort.is_over
    counted(RING)
    assert effort.spent == first
    effort.counted(own.rules_only)(RING)
    assert first < effort.spent < 2 * first, "rules alone take less"


def test_the_same_work_is_the_same_effort() -> None:
    spent = []
    for _ in range(2):
        effort = SearchEffort()
        effort.counted(judge())(WRONG)
        spent.append(effort.spent)
    assert spent[0] == spent[1]


@pytest.mark.parametrize("hours", [0.0, 1.0])
def test_how_fast_the_clock_runs_changes_no_repair(monkeypatch: pytest.MonkeyPatch, hours: float) -> None:
    """Each look at the clock shows that hours went by, but for the brake of verification."""
    now = [0.0]

    def later() -> float:
        now[0] += 3600 * hours
        return now[0]

    monkeypatch.setattr("ptxcheck.terms.effort.Effort.is_braked", lambda _: False)
    for clock in ("process_time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, clock, later)
    own = judge()
    found = repair(WRONG, own, Assembler(None, "sm_90a"), brief=own.brief, plain=own.plain)
    assert len(found.repairs) == 1
    assert "_, [%r8], 2048;" not in found.text


def test_a_search_without_effort_tries_nothing() -> None:
    found = repair(WRONG, judge(), Assembler(None, "sm_90a"), seconds=0.0)
    assert (found.text, found.repairs) == (WRONG, ())
