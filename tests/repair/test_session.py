"""`ptxcheck run`, with a stand-in for the process that owns the GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.repair.harness import HarnessError
from ptxcheck.repair.outcome import Outcome
from ptxcheck.repair.session import (
    Plan,
    run_session,
    session_json,
    session_text,
)

_RING = Path(__file__).parents[2] / "corpus" / "runnable" / "ring.toml"
_WORKER = """
import json, sys
print(json.dumps({"gpu": "stand-in", "capability": [9, 0], "driver": 13000, "clocks": "SM 1 MHz"}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "time":
        print(json.dumps({"times": [[0.010, 0.011, 0.010], [0.005, 0.006, 0.005]]}), flush=True)
        continue
    text = open(request["image"]).read()
    outcome = "wrong" if "delay" in text else "right"
    count = len(request["cases"]) * request["repeat"]
    print(json.dumps({"outcome": outcome, "detail": "", "case": -1, "runs": count}), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "worker.py").write_text(_WORKER)
    return (sys.executable, str(tmp_path / "worker.py"))


def test_a_right_kernel_is_timed_against_the_other(command: tuple[str, ...]) -> None:
    session = run_session(_RING, Plan("new", against="old", repeat=2, rounds=3), command=command)
    assert session.is_right
    assert session.result.runs == 10
    text = session_text(session, compared=True)
    assert "ring on stand-in, driver for CUDA 13.0, SM 1 MHz" in text
    assert "right (10 runs)" in text
    assert "ratio          0.500" in text
    assert json.loads(session_json(session))["timing"]["ratio"] == pytest.approx(0.5)


def test_a_delayed_form_that_is_wrong_makes_the_kernel_wrong(command: tuple[str, ...]) -> None:
    session = run_session(_RING, Plan("k", delayed=["k delay"], rounds=0), command=command)
    assert not session.is_right
    assert [r.outcome for r in session.delayed] == [Outcome.WRONG]
    assert "with delays 1  wrong" in session_text(session, compared=False)


def test_a_kernel_that_is_wrong_is_not_timed(command: tuple[str, ...]) -> None:
    session = run_session(_RING, Plan("delay"), command=command)
    assert session.timing is None
    assert session.delayed == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such.toml"], "cannot read no-such.toml"),
        ([str(_RING), "--image", "no-such.ptx"], "no-such.ptx"),
    ],
)
def test_bad_input_ends_with_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["run", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_a_harness_that_throws_says_where(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "throws.py"
    path.write_text(
        'from pathlib import Path\nkernel, source, cases = "ring", Path("ring.ptx"), [{"tiles": 3}]\n'
        'def plan(case):\n    raise RuntimeError("the data are not there")\n'
        'def verdict(case, before, after):\n    return ""\n'
    )
    image = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry ring() { ret; }\n"
    with pytest.raises(
        HarnessError, match=r"fails in plan\(tiles = 3\): RuntimeError: the data are not there"
    ):
        run_session(path, Plan(image), command=command)
