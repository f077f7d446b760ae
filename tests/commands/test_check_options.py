"""The options of `check` as a value."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ptxcheck.commands.check import check_command
from ptxcheck.commands.check_options import CheckOptions, configuration
from ptxcheck.finding import Severity


def test_defaults_are_those_of_the_command_line() -> None:
    """Other commands check with `CheckOptions` of a few options."""
    parsed = check_command.make_context("check", ["k.ptx"]).params
    assert parsed == asdict(CheckOptions(("k.ptx",)))


def test_options_are_over_the_configuration() -> None:
    options = CheckOptions(
        ("k.ptx",), isolated=True, fail_on="slow", arch="sm_100a", settings=("strict = true",)
    )
    config = configuration(options)
    assert (config.fail_on, config.nvcc.arch, config.strict) == (Severity.SLOW, "sm_100a", True)


def test_what_is_wrong_ends_with_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        configuration(CheckOptions(("k.ptx",), isolated=True, settings=("nope = 1",)))
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("ptxcheck: --set: unknown key `nope`")
