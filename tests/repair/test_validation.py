"""`ptxcheck repair --harness`: what the hardware says decides whether a safe repair is validated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.repair.outcome import Environment, Outcome, RunResult
from ptxcheck.repair.sanitizer import Sanitized
from ptxcheck.repair.session import Plan, Session

from .test_strategies import _COPY

_HARNESS = 'kernel = "k"\nsource = "k.ptx"\nblock = [64]\n'
_GPU = Environment("stand-in", (9, 0), 13000)
needs_ptxas = pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "harness.toml").write_text(_HARNESS)
    path = tmp_path / "k.ptx"
    path.write_text(_COPY.replace("_, [%r2], 1024", "_, [%r2], 2048"))
    return path


def _repair(kernel: Path, monkeypatch: pytest.MonkeyPatch, session: Session) -> tuple[int, Any, list[Plan]]:
    plans: list[Plan] = []

    def run_session(harness: Path, plan: Plan, *, limit_seconds: float) -> Session:
        plans.append(plan)
        return session

    monkeypatch.setattr("ptxcheck.repair.session.run_session", run_session)
    harness = str(kernel.with_name("harness.toml"))
    result = CliRunner().invoke(
        main, ["repair", str(kernel), "--unsafe", "--harness", harness, "--format", "json"]
    )
    return result.exit_code, json.loads(result.output), plans


@needs_ptxas
@pytest.mark.parametrize(
    ("outcome", "said", "validated"),
    [
        (Outcome.RIGHT, (), True),
        (Outcome.RIGHT, (Sanitized("memcheck", 0), Sanitized("racecheck", 3, "a race")), True),
        (Outcome.RIGHT, (Sanitized("memcheck", 1, "out of bounds"),), False),
        (Outcome.RIGHT, (Sanitized("synccheck", None, "no end"),), True),
        (Outcome.WRONG, (), False),
        (Outcome.HANG, (), False),
    ],
)
def test_a_safe_repair_is_validated_when_it_runs_right(
    outcome: Outcome,
    said: tuple[Sanitized, ...],
    validated: bool,
    kernel: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session("k", _GPU, RunResult(outcome), (), None, said)
    code, table, plans = _repair(kernel, monkeypatch, session)
    assert (code, table["validated"]) == (0 if validated else 1, validated)
    assert [each["safety"] for each in table["repairs"]] == ["validated" if validated else "safe"]
    assert "2048" not in plans[0].image
    assert len(plans[0].delayed) == 3


def test_a_suggestion_is_never_validated(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxcheck.repair.assemble.find_ptxas", lambda: None)
    session = Session("k", _GPU, RunResult(Outcome.RIGHT), (), None)
    _, table, _ = _repair(kernel, monkeypatch, session)
    assert table["validated"] is False
    assert [each["safety"] for each in table["repairs"]] == ["suggested"]
