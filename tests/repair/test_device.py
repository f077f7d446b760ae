"""The process boundary: a stand-in worker plays the ways in which a GPU process can end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from ptxcheck.repair.device import Device, NoDeviceError
from ptxcheck.repair.outcome import Outcome
from tests.limits import WALL_SECONDS

T = TypeVar("T")
_WORKER = """
import json, os, sys, time
print(json.dumps({"gpu": "stand-in", "capability": [9, 0], "driver": 13000, "clocks": ""}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    text = open(request.get("image") or request["images"][0]).read()
    if text == "hang":
        time.sleep(6000)
    if text == "die":
        print("last words", file=sys.stderr)
        os._exit(3)
    if request["op"] == "time":
        print(json.dumps({"times": [[1.0, 2.0], [3.0, 4.0]]}), flush=True)
        continue
    print(json.dumps({"outcome": text, "detail": str(os.getpid()), "case": 0, "runs": 1}), flush=True)
    if text == "fault":
        sys.exit(1)
"""


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    worker = tmp_path / "worker.py"
    worker.write_text(_WORKER)
    command = (sys.executable, str(worker))
    with Device(tmp_path / "harness.toml", limit_seconds=WALL_SECONDS, command=command) as device:
        yield device


def test_answers_pass_through_and_the_worker_stays(device: Device) -> None:
    first, second = device.run("right", [0]), device.run("wrong", [0])
    assert (first.outcome, second.outcome) == (Outcome.RIGHT, Outcome.WRONG)
    assert first.detail == second.detail
    assert device.environment is not None
    assert device.environment.gpu == "stand-in"


def hung(device: Device, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], T]) -> T:
    """Return what a device says of a kernel that hangs, without waiting long for it."""
    with monkeypatch.context() as patch:
        patch.setattr(device, "_limit", 0.1)
        return ask()


@pytest.mark.parametrize(
    ("image", "outcome"), [("hang", Outcome.HANG), ("die", Outcome.BROKEN), ("fault", Outcome.FAULT)]
)
def test_the_next_kernel_gets_a_new_worker(
    device: Device, image: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = device.run("right", [0])
    ask = partial(device.run, image, [0])
    ended = hung(device, monkeypatch, ask) if outcome is Outcome.HANG else ask()
    assert ended.outcome is outcome
    after = device.run("right", [0])
    assert after.outcome is Outcome.RIGHT
    assert after.detail != before.detail


def test_a_death_tells_the_last_words(device: Device) -> None:
    assert "last words" in device.run("die", [0]).detail


def test_times_come_back_by_image(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    assert device.time(["right", "right"], 0, 2) == [[1.0, 2.0], [3.0, 4.0]]
    answer = hung(device, monkeypatch, partial(device.time, ["hang", "right"], 0, 2))
    assert not isinstance(answer, list)
    assert answer.outcome is Outcome.HANG


def test_no_device_is_one_clear_error(tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text("import sys; sys.exit('no driver here')")
    with (
        pytest.raises(NoDeviceError, match="no driver here"),
        Device(tmp_path / "h.toml", command=(sys.executable, str(worker))),
    ):
        pass


def test_a_worker_that_is_let_go_ends_by_itself(device: Device) -> None:
    device.run("right", [0])
    assert device.finish(WALL_SECONDS)
    assert not device.finish(WALL_SECONDS)
