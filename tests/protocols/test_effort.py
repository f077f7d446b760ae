"""Effort is counted: a verdict does not depend on how fast the machine is, until the clock has to end it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.terms import effort
from ptxcheck.terms.effort import LEVELS, Effort, OutOfEffortError, Work

RING = Path(__file__).parents[2] / "corpus" / "protocols" / "ring" / "four_stages_filled_ahead.ptx"


class Machine:
    """A machine that takes so many times as long for everything."""

    def __init__(self, slower: float) -> None:
        self._slower = slower
        self._started = time.process_time()

    def process_time(self) -> float:
        return self._started + (time.process_time() - self._started) * self._slower

    perf_counter = process_time


def verdicts(monkeypatch: pytest.MonkeyPatch, slower: float, *options: str) -> str:
    with monkeypatch.context() as patch:
        patch.setattr(effort, "time", Machine(slower))
        command = ["check", "--isolated", "--no-cache", "--format", "json", *options, str(RING)]
        result = CliRunner().invoke(main, command)
    report = json.loads(result.stdout)
    return json.dumps([report["findings"], report["kernels"]], sort_keys=True)


@pytest.mark.parametrize("level", ["0.05", "0.3", "normal"])
def test_a_slow_machine_gives_the_same_verdict(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts(monkeypatch, 0.01, "--effort", level) == verdicts(monkeypatch, 0.2, "--effort", level)


def test_little_effort_decides_less_and_says_what_to_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    little = verdicts(monkeypatch, 0.01, "--effort", "0.05")
    assert "more work than the effort allows, most of it in the loop that this branch closes" in little
    assert "=NUMBER, or --effort high" in little
    assert "more work" not in verdicts(monkeypatch, 0.01)


def test_the_clock_ends_what_takes_far_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "it took twice the processor time" in verdicts(monkeypatch, 10_000.0)


def test_work_adds_up() -> None:
    counted = Effort(1.0)
    counted.spend(Work.STEP, 3)
    counted.spend(Work.QUESTION)
    assert counted.spent == 3 * effort.COST[Work.STEP] + effort.COST[Work.QUESTION]
    assert set(effort.COST) == set(Work)


@pytest.mark.parametrize(
    ("text", "code"), [*((level, 0) for level in LEVELS), ("2.5", 0), ("most", 2), ("-1", 2)]
)
def test_levels(text: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "empty.ptx"
    path.write_text(".version 8.0\n.target sm_90a\n.address_size 64\n")
    result = CliRunner().invoke(main, ["check", "--isolated", "--no-cache", "--effort", text, str(path)])
    assert result.exit_code == code
    assert code == 0 or "low, normal, high" in result.output


def test_the_clock_ends_the_parts_of_an_effort_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Machine(0.0)
    monkeypatch.setattr(effort, "time", clock)
    whole = Effort(10.0)
    part = whole.part(0.25)
    assert (whole.limit, part.limit) == (10_000_000, 2_500_000)
    assert not (whole.is_over)
    assert not (part.is_over)
    clock._started += 4.9
    assert (whole.is_over, part.is_over) == (False, True)
    assert not whole.part(0.5).is_over, "what is left of the clock is shared"
    clock._started += 14.2
    assert whole.is_over
    assert whole.part(0.5).is_over


def test_work_is_paid_for_until_nothing_is_left() -> None:
    counted = Effort(0.001)
    counted.pay(Work.LANDMARK)
    assert counted.affords(Work.QUESTION) == 2
    with pytest.raises(OutOfEffortError):
        counted.pay(Work.LANDMARK, 100)
    assert counted.affords(Work.QUESTION) == 1
    assert Effort().affords(Work.QUESTION) is None
