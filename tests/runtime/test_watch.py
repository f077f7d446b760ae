from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import pytest

from ptxcheck.runtime.watch import WatchError, changes, watched_folders
from tests.fakes import KERNEL, hear_interrupts
from tests.limits import WALL_SECONDS


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src/deep").mkdir(parents=True)
    Path("src/k.ptx").write_text("")
    assert watched_folders(["src/k.ptx", "src/deep", "src/none/*.ptx", "k.ptx"]) == ("src", "src/deep", ".")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(WatchError, match=r"pip install 'ptxcheck\[watch\]'"):
        next(changes(["."]))


def test_a_change_is_checked(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    kernel = tmp_path / "k.ptx"
    kernel.write_text(KERNEL)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "ptxcheck",
            "check",
            "k.ptx",
            "--watch",
            "--format",
            "concise",
            "--select",
            "MB001",
            "--no-verify",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        text=True,
        preexec_fn=hear_interrupts,
    )
    output = process.stdout
    assert output is not None
    lines = SimpleQueue[str]()
    try:
        assert output.readline().startswith("checked 1 kernel")
        told = Thread(target=lambda: lines.put(output.readline()), daemon=True)
        told.start()
        for number in range(int(WALL_SECONDS)):  # until somebody watches
            kernel.write_text(KERNEL.replace("128", "0") + f"// {number}\n")
            told.join(1)
            if not told.is_alive():
                break
        assert lines.get_nowait().startswith("k.ptx:8:3: ")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WALL_SECONDS)
    assert process.returncode == 130
