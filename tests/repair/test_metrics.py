"""Nsight Compute as a witness: what it wrote on an H100, and a stand-in on PATH that writes the same."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.repair.metrics import COUNTERS, Profile, profile, profile_lines, read_log
from ptxcheck.repair.session import Plan, run_session, session_json, session_text
from tests.limits import WALL_SECONDS

_RING = Path(__file__).parents[2] / "corpus" / "runnable" / "ring.toml"
_RECORDED = Path(__file__).with_name("ncu_h100.log")
_DENIED = """==PROF== Connected to process 7 (/usr/bin/python3)
==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters.
"""
_STAND_IN = """#!{python}
import json, sys
log = sys.argv[sys.argv.index("--log-file") + 1]
print(json.dumps({{"gpu": "stand-in", "capability": [9, 0], "driver": 13000, "clocks": ""}}), flush=True)
for line in sys.stdin:
    print(json.dumps({{"outcome": "right", "detail": "", "case": -1, "runs": 1}}), flush=True)
open(log, "w").write(open({said!r}).read())
"""


@pytest.fixture
def ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in on PATH that says what the file it returns has."""
    said = tmp_path / "said"
    said.write_text(_RECORDED.read_text())
    path = tmp_path / "ncu"
    path.write_text(_STAND_IN.format(python=sys.executable, said=str(said)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    return said


def test_what_was_recorded_is_read() -> None:
    (seen,) = read_log(_RECORDED.read_text())
    assert {key for key, _ in seen.values} == {counter.key for counter in COUNTERS}
    assert seen.get("brought_to_sms") == 524288
    assert seen.get("stalled_barrier") == pytest.approx(2.99)
    assert seen.get("no such") is None


def test_a_number_that_the_tool_does_not_know_is_left_out() -> None:
    text = _RECORDED.read_text().replace("dram__bytes_read.sum", "dram__bytes_heard.sum")
    (seen,) = read_log(text)
    assert seen.get("memory_read") is None
    assert not any("read from memory" in line for line in profile_lines([seen]))


def test_before_and_after_stand_side_by_side() -> None:
    lines = list(
        profile_lines([Profile((("occupancy", 50.0), ("memory_read", 2e6))), Profile((("occupancy", 25.0),))])
    )
    assert [" ".join(line.split()) for line in lines] == [
        "achieved occupancy 50.0 % -> 25.0 %", "read from memory 2.000 MB -> none",
    ]  # fmt: skip


@pytest.mark.usefixtures("ncu")
def test_a_profile_is_in_the_report() -> None:
    command = (str(_stand_in_of_the_worker()), "--log-file", "/dev/null")
    session = run_session(_RING, Plan("k", rounds=0, profiled=["old", "k"]), command=command)
    assert "stalled: barrier             2.99 warps -> 2.99 warps" in session_text(session, compared=False)
    metrics = json.loads(session_json(session))["metrics"]
    assert [each["brought_to_sms"] for each in metrics] == [524288, 524288]


def _stand_in_of_the_worker() -> Path:
    import shutil

    return Path(shutil.which("ncu") or "")


@pytest.mark.parametrize(
    ("text", "why"), [(_DENIED, "ERR_NVGPUCTRPERM"), ("==PROF== Disconnected\n", "ncu saw no launch of ring")]
)
def test_where_nothing_may_be_counted_it_says_so(text: str, why: str, ncu: Path) -> None:
    ncu.write_text(text)
    seen = profile(_RING, "ring", "k", 0, limit_seconds=WALL_SECONDS)
    assert why in seen.missing
    assert seen.to_json() == {"missing": seen.missing}
    assert next(profile_lines([seen])).startswith("no metrics: ")


def test_without_the_tool_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert profile(_RING, "ring", "k", 0, limit_seconds=1.0).missing == "ncu is not on PATH"


@pytest.mark.parametrize("command", ["run", "repair"])
def test_the_commands_take_the_option(command: str) -> None:
    assert "--metrics" in CliRunner().invoke(main, [command, "--help"]).output
