"""The documentation names every option and every key, and its examples are right."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptxcheck
from ptxcheck import cli, config
from ptxcheck.report import Format, render

from . import fakes

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_option_is_documented() -> None:
    page = text("cli.md")
    for command in cli.main.commands.values():
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    assert f"`{option}" in page, option


def test_every_key_is_documented_and_the_example_is_valid(tmp_path: Path) -> None:
    page = text("configuration.md")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "pyproject.toml"
    path.write_text(example)
    config.load_config(path)
    table = tomllib.loads(example)["tool"]["ptxcheck"]
    assert set(table) == set(config._KEYS)
    assert set(table["nvcc"]) == set(config._NVCC_KEYS)


@pytest.mark.parametrize("part", ["findings", "problems", "notes", "kernels"])
def test_every_field_of_json_is_documented(part: str) -> None:
    broken = fakes.KERNEL.replace("bar.sync 0;", "bar.sync 0 ];", 1)
    report = ptxcheck.check(fakes.source(broken), rules=(fakes.rule(),))
    value = json.loads(render(report, Format.JSON))
    page = text("json.md")
    for name in (*value, *value["summary"], *value[part][0]):
        assert f"`{name}`" in page, name


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_output_in_the_readme_is_real(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- output -->\n```console\n(.*?)```", page, re.DOTALL)
    command, _, output = block.partition("\n")
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(cli.main, command.removeprefix("$ ptxcheck ").split())
    assert result.stdout == output
