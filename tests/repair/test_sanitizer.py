"""Compute Sanitizer as a witness: its log, and a stand-in that runs the worker's part itself."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from ptxcheck.repair.sanitizer import Tool, read_log, sanitize
from ptxcheck.repair.session import (
    Plan,
    run_session,
    session_json,
    session_text,
)
from tests.limits import WALL_SECONDS

_RING = Path(__file__).parents[2] / "corpus" / "runnable" / "ring.toml"
_RACES = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at ring+0x90 and Read access at ring+0x120 [16 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)
"""
_FAULT = """========= COMPUTE-SANITIZER
========= Invalid __shared__ read of size 4 bytes
=========     at ring+0x2f0
========= ERROR SUMMARY: 3 errors
"""
_STAND_IN = """#!{python}
import json, sys
log = sys.argv[sys.argv.index("--log-file") + 1]
tool = sys.argv[sys.argv.index("--tool") + 1]
print(json.dumps({{"gpu": "stand-in", "capability": [9, 0], "driver": 13000, "clocks": ""}}), flush=True)
text = ""
for line in sys.stdin:
    text = open(json.loads(line)["image"]).read()
    print(json.dumps({{"outcome": "right", "detail": "", "case": -1, "runs": 1}}), flush=True)
count = 1 if text == "bad" and tool == "memcheck" else 0
said = "========= COMPUTE-SANITIZER\\n" + "========= Out of bounds\\n" * count
open(log, "w").write(f"{{said}}========= ERROR SUMMARY: {{count}} errors\\n")
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> str:
    path = tmp_path / "compute-sanitizer"
    path.write_text(_STAND_IN.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("tool", "text", "errors", "detail"),
    [
        (Tool.RACECHECK, _RACES, 2, "Error: Race reported between Write access at ring+0x90"),
        (Tool.MEMCHECK, _FAULT, 3, "Invalid __shared__ read of size 4 bytes"),
        (Tool.SYNCCHECK, "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", 0, ""),
        (Tool.SYNCCHECK, "", None, "the tool wrote no summary"),
    ],
)
def test_logs(tool: Tool, text: str, errors: int | None, detail: str) -> None:
    said = read_log(tool, text)
    assert said.errors == errors
    assert said.detail.startswith(detail)


def test_the_report_is_awaited(stand_in: str) -> None:
    for image, errors in (("good", 0), ("bad", 1)):
        said = sanitize(_RING, image, [0], Tool.MEMCHECK, stand_in, limit_seconds=WALL_SECONDS)
        assert said.errors == errors


def test_a_tool_that_does_not_start_has_no_answer(tmp_path: Path) -> None:
    broken = tmp_path / "compute-sanitizer"
    broken.write_text("#!/bin/sh\necho no device >&2\nexit 1\n")
    broken.chmod(0o755)
    said = sanitize(_RING, "image", [0], Tool.MEMCHECK, str(broken), limit_seconds=WALL_SECONDS)
    assert said.errors is None
    assert "no device" in said.detail


@pytest.mark.parametrize(("image", "valid"), [("good", True), ("bad", False)])
def test_an_error_of_a_tool_keeps_a_right_kernel_from_being_valid(
    image: str, valid: bool, stand_in: str
) -> None:
    plan = Plan(image, repeat=1, rounds=0, sanitizer=stand_in)
    command = (stand_in, "--log-file", "/dev/null", "--tool", "none")
    session = run_session(_RING, plan, command=command)
    assert session.is_right
    assert session.is_valid is valid
    assert [each["tool"] for each in json.loads(session_json(session))["sanitizer"]] == [
        t.value for t in Tool
    ]
    assert ("1 errors: Out of bounds" in session_text(session, compared=False)) is not valid
