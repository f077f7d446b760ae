"""What the comparison says is there is there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ptxcheck import cli, config
from ptxcheck.report import Format

PAGE = (Path(__file__).parent.parent / "docs/comparison.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (.+?) \| (.+) \|$", PAGE, re.MULTILINE))


def commands() -> list[click.Command]:
    groups = [each for each in cli.main.commands.values() if isinstance(each, click.Group)]
    return [*cli.main.commands.values(), *(each for group in groups for each in group.commands.values())]


def test_every_option_that_is_named_exists() -> None:
    options = {name for command in commands() for option in command.params for name in option.opts}
    named = {name for text in ROWS.values() for name in re.findall(r"`(--?[a-zA-Z][\w-]*)", text)}
    assert len(named) > 25
    assert named <= options


def test_every_format_is_named() -> None:
    named = re.findall(r"`([a-z-]+)`", ROWS["other outputs"])
    assert {*named, "sarif"} == {form.value for form in Format}


def test_every_command_that_is_named_exists() -> None:
    named = {name for text in ROWS.values() for name in re.findall(r"`ptxcheck (\w+)", text)}
    assert named <= set(cli.main.commands)
    assert {"lsp", "suppress", "fix", "explain"} <= named


@pytest.mark.parametrize("key", ["per-file-ignores", "severity"])
def test_keys_that_are_named_exist(key: str) -> None:
    assert f"`{key}`" in PAGE
    assert key in config._KEYS


def test_what_is_missing_has_a_reason() -> None:
    missing = [text for text in ROWS.values() if text.startswith("not there")]
    assert len(missing) == 3
    assert all(text.startswith("not there: ") and len(text) > 40 for text in missing)
