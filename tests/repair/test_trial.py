"""Runs for one size: at which a finding shows, and what still shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.repair.trial import Runs, trial_of

_PROTOCOLS = Path(__file__).parents[2] / "corpus" / "protocols"


def _runs(name: str) -> Runs:
    judge = TextJudge("k.ptx", (), Config(verify=False))
    (view,) = judge((_PROTOCOLS / f"{name}.ptx").read_text(encoding="utf-8")).views.values()
    return Runs(view)


@pytest.mark.parametrize(
    ("name", "flaw", "size"),
    [
        ("ring/one_stage.never_released", Flaw.DEADLOCK, 3),
        ("persistent/first_step_peeled.empty_split", Flaw.DEADLOCK, 0),
        ("ring/four_stages_filled_ahead.refill_before_all_have_read", Flaw.DEADLOCK, 12),
        ("ring/four_stages_filled_ahead.refill_not_guarded", Flaw.EXIT_WITH_REMOTE_ACCESS, 3),
    ],
)
def test_a_size_shows_a_flaw_of_the_broken_twin_only(name: str, flaw: Flaw, size: int) -> None:
    trial = trial_of(_runs(name), flaw)
    assert trial is not None
    assert trial.size == size
    assert trial.still_shows(_runs(name))
    assert not trial.still_shows(_runs(name.split(".")[0]))


def test_what_shows_at_no_size_has_no_trial() -> None:
    assert trial_of(_runs("ring/one_stage"), Flaw.DEADLOCK) is None
    assert trial_of(_runs("ring/three_stages.roles_count_differently"), Flaw.DEADLOCK) is None


def test_further_numbers_are_multiples_unless_given() -> None:
    runs = _runs("persistent/first_step_peeled")
    assert runs.of(4) is runs.of(4)
    assert _actions(runs, 4, None) > _actions(runs, 4, 0)


def _actions(runs: Runs, size: int, rest: int | None) -> int:
    result = runs.of(size, rest)
    assert result is not None
    assert result.sample is not None
    return sum(len(strand.actions) for strand in result.sample.protocol.strands)
