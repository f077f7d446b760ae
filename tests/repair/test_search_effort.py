"""A search for repairs counts its work; no clock ends it."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.search import repair
from ptxcheck.repair.search_effort import SearchEffort
from ptxcheck.repair.weighing import Assembler
from ptxcheck.rules import RULES
from ptxcheck.rules.protocol_kernels import RING, changed

CORPUS = Path(__file__).parent.parent.parent / "corpus" / "protocols"
BROKEN = CORPUS / "init" / "barrier_behind_the_buffer.barrier_in_the_buffer.ptx"
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


def test_how_fast_the_clock_runs_changes_no_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock shows that hours went by, but for the brake of verification."""
    broken = BROKEN.read_text(encoding="utf-8")
    monkeypatch.setattr("ptxcheck.terms.effort.Effort.is_braked", lambda _: False)
    found = []
    for hours in (0.0, 1.0):
        clock = itertools.count(0, 3600 * hours).__next__
        for name in ("process_time", "monotonic", "perf_counter"):
            monkeypatch.setattr(time, name, clock)
        own = judge()
        found.append(repair(broken, own, Assembler(None, "sm_90a"), brief=own.brief, plain=own.plain))
    assert len(found[0].repairs) == 1
    assert found[0].text == found[1].text != broken


def test_a_search_without_effort_tries_nothing() -> None:
    found = repair(WRONG, judge(), Assembler(None, "sm_90a"), seconds=0.0)
    assert (found.text, found.repairs) == (WRONG, ())
