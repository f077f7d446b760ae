"""A second solver confirms what verdicts rest on; what it contradicts is undecided, and a problem."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxcheck import cli
from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.results import CrossCheck, KernelVerdicts, Report, exit_code
from ptxcheck.terms.integers import Claim
from ptxcheck.terms.refutations import SECOND_SOLVERS
from ptxcheck.terms.smt import SecondSolver

ROOT = Path(__file__).parents[2]
ASKS = ROOT / "corpus" / "good" / "roles_that_exclude_each_other.ptx"
"""Its proof rests on two answers of the solver."""


def verdicts_of(report: Report) -> KernelVerdicts:
    (kernel,) = report.kernels
    assert kernel.verification is not None
    return kernel.verification


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[bool | None]:
    """Let a second solver answer what the list says, in turn."""
    said: list[bool | None] = []
    turns: list[Sequence[Claim]] = []

    def refutes(_: SecondSolver, claims: Sequence[Claim]) -> bool | None:
        turns.append(claims)
        return said[len(turns) - 1]

    monkeypatch.setattr(SecondSolver, "__post_init__", lambda _: None)
    monkeypatch.setattr(SecondSolver, "version", "1.0")
    monkeypatch.setattr(SecondSolver, "refutes", refutes)
    return said


@pytest.mark.parametrize("solver", SECOND_SOLVERS)
def test_what_verdicts_rest_on_is_confirmed(solver: str) -> None:
    if find_spec(solver) is None:
        pytest.skip(f"no {solver}")
    outcome = verdicts_of(
        check(str(ASKS), config=Config(cross_check=solver, for_every_count=False))
    ).cross_check
    assert outcome == CrossCheck(solver, SecondSolver(solver).version, 2, 0, 0)


def test_what_is_contradicted_is_undecided_and_a_problem(answers: list[bool | None]) -> None:
    answers += [True, False]
    report = check(str(ASKS), config=Config(cross_check="cvc5", for_every_count=False))
    table = verdicts_of(report)
    assert {(each.kind.value, each.evidence.value) for each in table.verdicts} == {("unknown", "undecided")}
    (problem,) = report.problems
    assert "cvc5 contradicts 1 of 2 answers" in problem.message
    assert exit_code(report) == 2


def test_what_stays_undecided_is_told_and_changes_no_verdict(answers: list[bool | None]) -> None:
    answers += [True, None]
    report = check(str(ASKS), config=Config(cross_check="cvc5", for_every_count=False))
    plain = verdicts_of(check(str(ASKS), config=Config(for_every_count=False)))
    assert [each.kind for each in verdicts_of(report).verdicts] == [each.kind for each in plain.verdicts]
    assert verdicts_of(report).cross_check == CrossCheck("cvc5", "1.0", 1, 1, 0)
    assert plain.cross_check is None
    assert exit_code(report) == exit_code(check(str(ASKS), config=Config(for_every_count=False)))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(
        cli.main, ["check", str(ASKS), "--isolated", "--no-cache", "--no-for-every-count", *arguments]
    )


def test_the_command_line_and_json_say_what_was_confirmed(answers: list[bool | None]) -> None:
    answers += [True, True]
    told = run("--cross-check", "cvc5", "-v").stdout
    assert "cross-check: cvc5 1.0 confirms 2 of 2 answers that something is impossible" in " ".join(
        told.split()
    )
    answers += [True, True]
    (kernel,) = json.loads(run("--cross-check", "cvc5", "--format", "json").stdout)["kernels"]
    assert kernel["verification"]["cross_check"] == {
        "solver": "cvc5", "version": "1.0", "confirmed": 2, "undecided": 0, "refuted": 0,
    }  # fmt: skip


def test_a_solver_that_is_not_installed_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    from ptxcheck.terms.smt import second

    def none(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(second, "version", none)
    done = run("--cross-check", "bitwuzla")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "bitwuzla is not installed: pip install 'ptxcheck[cross-check]'" in done.stderr
