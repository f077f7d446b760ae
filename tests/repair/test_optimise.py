"""Redundant synchronisation: found where every verdict stays, and left where it does not; and the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.config import Config
from ptxcheck.judge import TextJudge
from ptxcheck.repair.optimise import optimise
from ptxcheck.repair.search import Assembler
from ptxcheck.rules import RULES, select_rules

from .test_strategies import _COPY, _MEET


@pytest.fixture(scope="module")
def judge() -> TextJudge:
    config = Config()
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


@pytest.mark.parametrize("text", [_COPY, _MEET])
def test_what_is_needed_stays(judge: TextJudge, text: str) -> None:
    better = optimise(text, judge, Assembler(None, "sm_90a"))
    assert (better.text, better.redundant, better.skipped) == (text, (), ())


def test_what_orders_nothing_goes(judge: TextJudge) -> None:
    more = _COPY.replace("    ld.param.u64 %rd2", "    bar.sync 0;\n    ld.param.u64 %rd2")
    better = optimise(more, judge, Assembler(None, "sm_90a"))
    assert [each.patch.summary for each in better.redundant] == ["leave out 'bar.sync 0;'"]
    assert "global memory" in better.redundant[0].assumption
    assert [x for x in better.text.splitlines() if x.strip()] == [x for x in _COPY.splitlines() if x.strip()]


def test_a_kernel_that_is_not_proved_is_left_alone(judge: TextJudge) -> None:
    broken = _COPY.replace("_, [%r2], 1024", "_, [%r2], 2048")
    better = optimise(broken, judge, Assembler(None, "sm_90a"))
    assert (better.text, better.redundant) == (broken, ())
    assert "not proved" in better.skipped[0]


def test_out_of_time_is_said(judge: TextJudge) -> None:
    more = _COPY.replace("    ld.param.u64 %rd2", "    bar.sync 0;\n    ld.param.u64 %rd2")
    better = optimise(more, judge, Assembler(None, "sm_90a"), seconds=-1.0)
    assert (better.text, better.tried) == (more, 0)
    assert "out of time" in better.skipped[0]


def test_the_command_names_the_evidence_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(_COPY.replace("_, [%r2], 1024", "_, [%r2], 2048"))
    loaded = "cuda" in sys.modules
    text = CliRunner().invoke(main, ["repair", str(path), "--unsafe"])
    assert "expect 1024 bytes instead of 2048" in text.output
    assert "evidence that is missing: results and time on hardware: no harness is given" in text.output
    table = json.loads(CliRunner().invoke(main, ["repair", str(path), "--unsafe", "--format", "json"]).output)
    assert table["validated"] is None
    assert table["hardware"] == {"missing": "results and time on hardware: no harness is given"}
    assert ("cuda" in sys.modules) == loaded
    assert CliRunner().invoke(main, ["repair", str(tmp_path / "no.ptx")]).exit_code == 2


def test_the_command_optimises(tmp_path: Path) -> None:
    path, out = tmp_path / "k.ptx", tmp_path / "better.ptx"
    path.write_text(_COPY.replace("    ld.param.u64 %rd2", "    bar.sync 0;\n    ld.param.u64 %rd2"))
    result = CliRunner().invoke(main, ["repair", str(path), "--optimise", "-o", str(out)])
    assert result.exit_code == 0
    assert "1 redundant of 2 tried" in result.output
    assert out.read_text().count("bar.sync") == 1
