"""Repairs of encode calls: legal, about the same tensor, and never more than suggested."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.hostcode.view import HostView
from ptxcheck.patching.host_repair import repair_host
from ptxcheck.rules import RULES, HostHit
from ptxcheck.source import Source

_BAD = Path(__file__).parents[2] / "corpus" / "bad"


def _source(name: str) -> Source:
    path = _BAD / name
    return Source(str(path), path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("TD010/swizzle_of_the_wrong_end.cpp", "widest(box[kRank - 1] * 2)", "widest(box[kRank - 2] * 2)"),
        ("TD011/tile_of_floats.cpp", "encode_tile<256, 256>", "encode_tile<128, 256>"),
    ],
)
def test_an_illegal_map_becomes_a_legal_one(name: str, old: str, new: str) -> None:
    source = _source(name)
    outcome = repair_host(source, RULES)
    assert not outcome.left
    assert outcome.text == source.text.replace(old, new, 1)


@pytest.mark.parametrize(
    "name",
    [
        "TD005/strides_in_elements.cpp",
        "TD002/six_dimensions.cpp",
        "TD007/element_strides_after_the_first.cpp",
    ],
)
def test_the_tensor_is_never_another_one_and_nothing_is_hidden(name: str) -> None:
    source = _source(name)
    outcome = repair_host(source, RULES)
    assert outcome.text == source.text
    assert outcome.left


def test_a_change_on_which_a_rule_fails_is_no_repair() -> None:
    source = _source("TD011/tile_of_floats.cpp")
    (rule,) = [each for each in RULES if each.id == "TD011"]
    check = rule.host
    assert check is not None

    def fails_on_changes(view: HostView) -> Iterator[HostHit]:
        if view.source.text != source.text:
            raise RuntimeError
        return check(view)

    outcome = repair_host(source, (replace(rule, host=fails_on_changes),))
    assert not outcome.repairs
    assert outcome.left


def test_a_legal_map_is_left_alone() -> None:
    source = _source("TD011/tile_of_floats.cpp")
    right = repair_host(source, RULES).text
    again = repair_host(Source(source.name, right), RULES)
    assert not again.repairs
    assert again.text == right


def test_only_unsafe_writes_what_is_only_suggested(tmp_path: Path) -> None:
    path = tmp_path / "encode.cpp"
    path.write_text(_source("TD011/tile_of_floats.cpp").text)
    before = path.read_text()
    kept = CliRunner().invoke(main, ["fix", str(path), "--in-place"])
    assert kept.exit_code == 1
    assert "suggested: 128 instead of 256 at 16:22" in kept.output
    assert path.read_text() == before
    written = CliRunner().invoke(main, ["fix", str(path), "--in-place", "--unsafe", "--format", "json"])
    assert written.exit_code == 0, written.output
    (row,) = json.loads(written.output)["maps"]
    assert (row["rule"], row["safety"]) == ("TD011", "suggested")
    assert "encode_tile<128, 256>" in path.read_text()


def test_a_file_that_cannot_be_read_is_named() -> None:
    done = CliRunner().invoke(main, ["fix", "nowhere.cpp"])
    assert done.exit_code == 2
    assert "nowhere.cpp" in done.output
