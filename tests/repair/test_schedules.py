"""Schedules of a kernel: variations that keep its contract, and numbers that break it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.commands.schedules import (
    Row,
    Schedules,
    schedules_table,
    schedules_text,
)
from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.outcome import Environment, Outcome, RunResult
from ptxcheck.repair.schedules import Candidate, candidates, wait_late
from ptxcheck.repair.session import Session
from ptxcheck.repair.timing import Comparison
from ptxcheck.repair.weighing import Assembler
from ptxcheck.rules import RULES, select_rules
from ptxcheck.view import KernelView

_RINGS = Path(__file__).parents[2] / "corpus" / "protocols" / "ring"
_RELEASE = "    mbarrier.arrive.shared::cta.b64 _, [free];\n"


def _ring(name: str) -> str:
    return (_RINGS / f"{name}.ptx").read_text(encoding="utf-8")


def _judge() -> TextJudge:
    config = Config(verify_seconds=60)
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _schedules(text: str, kernel: str) -> dict[tuple[str, ...], Candidate]:
    judge = _judge()
    found = candidates(text, kernel, judge, judge.plain, Assembler(None, "sm_90a"))
    return {each.changes: each for each in found}


def _code(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.replace("{", "{\n").replace(";", ";\n").splitlines()]


def test_one_lane_arrives_for_its_warp() -> None:
    found = _schedules(_ring("three_stages"), "three_stages")
    assert next(iter(found)) == ()
    one = found["one lane arrives for its warp",]
    assert one.holds
    assert one.text.count("[empty], 1;") == 1
    code = [line for line in _code(one.text) if line]
    assert "bar.warp.sync -1;" in code[: next(n for n, line in enumerate(code) if "_, [free]" in line)]
    assert not one.assumption


def test_every_thread_arrives() -> None:
    found = _schedules(_ring("two_stages"), "two_stages")
    every = found["every thread arrives",]
    assert every.holds
    assert every.text.count("[empty], 32;") == 1
    assert "@leads mbarrier.arrive" not in every.text


def test_a_release_moves_to_the_last_access_and_says_what_it_passes() -> None:
    found = _schedules(_ring("three_stages"), "three_stages")
    early = found["releases behind the last access",]
    code = [line for line in _code(early.text) if line]
    assert code[code.index("ld.shared.u32 value, [buffer];") + 1].startswith("mbarrier.arrive")
    assert early.holds
    assert "global memory" in early.assumption


def test_a_release_takes_its_address_along_and_stays_behind_accesses() -> None:
    text = _ring("three_stages").replace("    add.u32 free, frees, at;\n", "", 2)
    text = text.replace("WAIT_EMPTY:", "    shl.b32 at, stage, 3;\n    add.u32 free, frees, at;\nWAIT_EMPTY:")
    text = text.replace(
        _RELEASE,
        "    shl.b32 at, stage, 3;\n    add.u32 sum, sum, 1;\n    add.u32 free, frees, at;\n" + _RELEASE,
    )
    found = _schedules(text, "three_stages")
    code = [line for line in _code(found["releases behind the last access",].text) if line]
    start = code.index("ld.shared.u32 value, [buffer];")
    assert [line.split()[0] for line in code[start + 1 : start + 4]] == [
        "shl.b32",
        "add.u32",
        "mbarrier.arrive.shared::cta.b64",
    ]
    assert found["releases behind the last access",].holds


def test_loads_of_global_memory_go_before_a_wait_with_what_feeds_them() -> None:
    text = _ring("three_stages").replace(
        "    ld.shared.u32 value, [buffer];\n",
        "    ld.shared.u32 value, [buffer];\n    add.u64 from, from, 8;\n    ld.global.u32 column, [from];\n"
        "    add.u32 sum, sum, value;\n",
    )
    patch = wait_late(_view(text))
    assert patch is not None
    (moved,) = [each.replacement for each in patch.edits if each.replacement]
    assert moved.split(";")[:2] == [" add.u64 from, from, 8", "  ld.global.u32 column, [from]"]
    assert "value" not in moved


_LOAD = "    ld.global.u32 column, [from];\n"


@pytest.mark.parametrize(
    "behind",
    [
        "    st.global.u32 [from], value;\n" + _LOAD,
        "    atom.global.add.u32 sum, [from], 1;\n" + _LOAD,
        _LOAD.replace("ld.global", "ld.acquire.gpu.global"),
        _LOAD.replace("ld.global", "ld.volatile.global"),
    ],
)
def test_loads_that_have_to_see_a_store_stay_behind_it(behind: str) -> None:
    own = "    ld.shared.u32 value, [buffer];\n"
    text = _ring("three_stages")
    assert wait_late(_view(text.replace(own, own + _LOAD))) is not None
    assert wait_late(_view(text.replace(own, own + behind))) is None


def test_what_can_be_entered_without_the_wait_stays_behind_it() -> None:
    own = "    ld.shared.u32 value, [buffer];\n"
    text = _ring("three_stages").replace(own, own + _LOAD)
    behind_the_wait = "    @!ready bra WAIT_FULL;\n"
    assert behind_the_wait in text
    around = "    @wraps bra AROUND;\nWAIT_FULL:"
    assert wait_late(_view(text)) is not None
    entered = text.replace(behind_the_wait, behind_the_wait + "AROUND:\n").replace("WAIT_FULL:", around, 1)
    assert wait_late(_view(entered)) is None


def _view(text: str) -> KernelView:
    (view,) = _judge().plain(text).views.values()
    return view


def test_numbers_that_break_the_contract_are_not_offered(tmp_path: Path) -> None:
    text = _ring("three_stages").replace(
        "    setp.eq.u32 wraps, stage, 3;", "    setp.eq.u32 wraps, stage, 3;", 1
    )
    first, second, third = text.split("    setp.eq.u32 wraps, stage, 3;")
    mark = "    setp.eq.u32 wraps, stage, 3;  // ptxcheck: schedule round = 2, 3"
    path = tmp_path / "ring.ptx"
    path.write_text(f"{first}{mark}{second}    setp.eq.u32 wraps, stage, 3;{third}")
    done = CliRunner().invoke(main, ["repair", str(path), "--schedules", "--format", "json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.output)["schedules"]
    by_round = {n: [row for row in rows if row["setting"] == {"round": n}] for n in (2, 3)}
    assert all(row["holds"] for row in by_round[3])
    assert by_round[2]
    assert not any(row["holds"] for row in by_round[2])
    assert json.loads(done.output)["hardware"]["missing"].endswith("no harness is given")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--schedules", "--optimise"], "goes with neither"),
        (["--schedules", "--kernel", "other"], "no kernel 'other'"),
        (["--schedules", "--harness", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_bad_input_is_named(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(main, ["repair", str(_RINGS / "three_stages.ptx"), *arguments])
    assert done.exit_code == 2
    assert words in done.output


def test_the_fastest_that_is_right_is_chosen() -> None:
    found = Schedules((_row(1.0, 1.01), _row(0.9, 0.95), _row(0.5, 0.6, Outcome.WRONG), _row(0.95, 1.02)), "")
    assert found.best is found.rows[1]
    assert "fastest: 1, 0.900 of the time as it is" in schedules_text(found)
    assert schedules_table(found)["fastest"] == 1
    none = replace(found, rows=found.rows[:1])
    assert none.best is None
    assert "none is faster" in schedules_text(none)


def _row(ratio: float, high: float, outcome: Outcome = Outcome.RIGHT) -> Row:
    candidate = Candidate("ring", (("kStages", 4),), (), "", "proved", holds=True, resources=None)
    timing = Comparison(0.01, 0.01 * ratio, 0.0, 0.0, ratio, ratio - 0.05, high, 30)
    here = Environment("stand-in", (9, 0), 13000)
    return Row(candidate, Session("ring", here, RunResult(outcome), (), timing))
