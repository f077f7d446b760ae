"""Run one external program, measured and bounded in time and memory, never through a shell."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.05
NICENESS = 10
KEPT_MESSAGE = 4000


@dataclass(frozen=True, slots=True)
class Ran:
    """What one finished program did and cost, its children included."""

    status: int
    seconds: float
    cpu_seconds: float
    peak_mb: int
    output: str
    stopped: str = ""
    """Why it was stopped before its end; empty when it ended by itself."""

    @property
    def ok(self) -> bool:
        return self.status == 0 and not self.stopped

    @property
    def message(self) -> str:
        """The program's words, shortened to their beginning, where compilers put the cause."""
        text = self.output.strip()
        if len(text) > KEPT_MESSAGE:
            text = text[:KEPT_MESSAGE] + f"\n... ({len(text) - KEPT_MESSAGE} more characters)"
        if self.stopped:
            return f"stopped: {self.stopped}\n{text}".strip()
        return text or f"ended with status {self.status} and no message"


def available_mb() -> int:
    """Memory that a new program could use without swapping; a large number where it is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 1 << 20
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    return 1 << 20


def run(
    command: Sequence[str | Path],
    *,
    timeout: float,
    keep_free_mb: int = 0,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Run `command` niced; stop it after `timeout` seconds or when free memory falls under `keep_free_mb`."""
    with tempfile.TemporaryFile() as sink:
        begun = time.monotonic()
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)
        stopped = ""
        while True:
            ended, raw_status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            if not stopped:
                stopped = _reason_to_stop(time.monotonic() - begun, timeout, keep_free_mb)
                if stopped:
                    os.killpg(child.pid, signal.SIGKILL)
            time.sleep(POLL_SECONDS)
        seconds = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(raw_status)
        sink.seek(0)
        output = sink.read().decode("utf-8", errors="replace")
    cpu = round(usage.ru_utime + usage.ru_stime, 2)
    return Ran(child.returncode, round(seconds, 2), cpu, usage.ru_maxrss // 1024, output, stopped)


def _reason_to_stop(elapsed: float, timeout: float, keep_free_mb: int) -> str:
    if elapsed > timeout:
        return f"still running after {timeout:.0f} s"
    if keep_free_mb and available_mb() < keep_free_mb:
        return f"free memory fell under {keep_free_mb} MB"
    return ""
