"""ptxas as the judge of a patch: does it take the text, and what does the kernel use then."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..runtime.scratch import scratch_folder

_TIMEOUT_SECONDS = 600
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_USED = re.compile(r"Used (\d+) registers")
_SPILL = re.compile(r"(\d+) bytes spill stores")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class Resources:
    """What ptxas says that one kernel uses."""

    registers: int
    spill_bytes: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """`error` is ptxas's message when it refused the text."""

    resources: dict[str, Resources]
    error: str = ""


def find_ptxas() -> str | None:
    """Return the path of ptxas on PATH, None when there is none."""
    return shutil.which("ptxas")


def assemble(text: str, target: str, ptxas: str) -> Assembled:
    """Assemble a PTX text for a target such as `sm_90a`."""
    with scratch_folder() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(
                [ptxas, "-v", f"-arch={target}", str(path), "-o", str(path.with_suffix(".cubin"))],
                capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return Assembled({}, str(error))
    if done.returncode:
        lines = [
            line for line in (done.stdout + done.stderr).splitlines() if "error" in line or "fatal" in line
        ]
        return Assembled({}, (lines or ["ptxas refused the text"])[0].replace(str(path), "patched"))
    return Assembled(_resources(done.stdout + done.stderr))


def _resources(log: str) -> dict[str, Resources]:
    found: dict[str, Resources] = {}
    pieces = _ENTRY.split(log)
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        numbers = [pattern.search(text) for pattern in (_USED, _SPILL, _SHARED)]
        registers, spill, shared = (int(match.group(1)) if match else 0 for match in numbers)
        found[name] = Resources(registers, spill, shared)
    return found
