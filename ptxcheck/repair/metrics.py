"""Counters of Nsight Compute: what a kernel waits for and how busy the machine is, while it runs by its harness.

Source: Nsight Compute documentation, "Metrics Guide" and "Command Line Interface"; the comma-separated page `raw`.
Clocks are left as they are, so that times of a profile are no measurement of speed.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..runtime.scratch import scratch_folder
from .device import Device, NoDeviceError
from .outcome import Outcome

_FINISH_SECONDS = 60.0
_ERROR = re.compile(r"^==ERROR== (.*)$", re.MULTILINE)
_SUFFIX = "_per_issue_active.ratio"


@dataclass(frozen=True, slots=True)
class Counter:
    """One number of a profile: what it is called here and there, and for people."""

    key: str
    metric: str
    title: str
    unit: str
    """`%`, `bytes`, `warps`, or empty for a plain count."""


def _conflicts(op: str, title: str) -> Counter:
    metric = f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"
    return Counter(f"conflicts_{op}", metric, f"bank conflicts of {title}", "")


def _stall(name: str, title: str) -> Counter:
    metric = f"smsp__average_warps_issue_stalled_{name}{_SUFFIX}"
    return Counter(f"stalled_{name}", metric, f"stalled: {title}", "warps")


COUNTERS: tuple[Counter, ...] = (
    _stall("barrier", "barrier"),
    _stall("long_scoreboard", "long scoreboard"),
    _stall("membar", "membar"),
    _stall("wait", "wait"),
    _stall("gmma", "wgmma"),
    Counter("occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy", "%"),
    Counter("most_occupancy", "sm__maximum_warps_per_active_cycle_pct", "possible occupancy", "%"),
    _conflicts("ld", "loads"),
    _conflicts("st", "stores"),
    Counter("tensor_pipe", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor pipe busy", "%"),
    Counter("memory", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "memory throughput", "%"),
    Counter("memory_read", "dram__bytes_read.sum", "read from memory", "bytes"),
    Counter("memory_written", "dram__bytes_write.sum", "written to memory", "bytes"),
    Counter("brought_to_sms", "l1tex__m_xbar2l1tex_read_bytes.sum", "brought to the SMs", "bytes"),
    Counter("registers", "launch__registers_per_thread", "registers of a thread", ""),
    Counter("ctas_by_registers", "launch__occupancy_limit_registers", "CTAs an SM by registers", ""),
    Counter("ctas_by_shared_memory", "launch__occupancy_limit_shared_mem", "CTAs an SM by shared memory", ""),
    Counter("ctas_by_warps", "launch__occupancy_limit_warps", "CTAs an SM by warps", ""),
)  # fmt: skip
"""What is collected. Stalls: warps of a scheduler that wait for this where one issues, on average."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Numbers of one launch by key of their counter, those that the tool knows; or why there are none."""

    values: tuple[tuple[str, float], ...] = ()
    missing: str = ""

    def get(self, key: str) -> float | None:
        """Return one number."""
        return dict(self.values).get(key)

    def to_json(self) -> dict[str, object]:
        """Return the numbers by key, or what is missing."""
        return {"missing": self.missing} if self.missing else dict(self.values)


def find_ncu() -> str | None:
    """Return the path of Nsight Compute's command line on PATH, None when there is none."""
    return shutil.which("ncu")


def profile(harness: Path, kernel: str, image: str | bytes, case: int, *, limit_seconds: float) -> Profile:
    """Run a kernel once on one case under Nsight Compute."""
    ncu = find_ncu()
    if ncu is None:
        return Profile(missing="ncu is not on PATH")
    with scratch_folder() as folder:
        log = Path(folder) / "log"
        command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)]
        command += ["--clock-control", "none", "--kernel-name-base", "mangled", "--kernel-name", kernel]
        command += ["--metrics", ",".join(counter.metric for counter in COUNTERS)]
        command += [sys.executable, "-m", "ptxcheck.repair.worker"]
        try:
            with Device(harness, limit_seconds=limit_seconds, command=command) as device:
                answer = device.run(image, [case])
                ended = device.finish(_FINISH_SECONDS)
        except NoDeviceError as error:
            return Profile(missing=f"ncu does not work here: {_said(_read(log)) or error}")
        text = _read(log)
    found = next(read_log(text), None)
    if found is not None:
        return found
    if answer.outcome is Outcome.HANG or not ended:
        return Profile(missing=f"no end within {limit_seconds:.0f} s under ncu")
    return Profile(missing=_said(text) or answer.detail or f"ncu saw no launch of {kernel}")


def _read(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def _said(text: str) -> str:
    error = _ERROR.search(text)
    return error[1] if error else ""


def read_log(text: str) -> Iterator[Profile]:
    """Yield the numbers of each launch of a comma-separated page `raw`; what ncu says around it is left out."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    for row in csv.DictReader(line for line in lines[start:] if line.startswith('"')):
        if row["ID"]:  # the first row has the units
            yield Profile(tuple(_numbers(row)))


def _numbers(row: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for counter in COUNTERS:
        try:
            yield counter.key, float((row.get(counter.metric) or "").replace(",", ""))
        except ValueError:  # not known on this machine
            continue


def profile_lines(profiles: Sequence[Profile]) -> Iterator[str]:
    """Yield a line for each number: of one kernel, or of the one before and the one behind."""
    for why in dict.fromkeys(each.missing for each in profiles if each.missing):
        yield f"no metrics: {why}"
    for counter in COUNTERS:
        found = [each.get(counter.key) for each in profiles]
        if any(value is not None for value in found):
            shown = " -> ".join("none" if value is None else _shown(counter, value) for value in found)
            yield f"{counter.title:<28} {shown}"


def _shown(counter: Counter, value: float) -> str:
    if counter.unit == "%":
        return f"{value:.1f} %"
    if counter.unit == "bytes":
        return f"{value / 1e6:.3f} MB" if value >= 1e4 else f"{value:.0f} bytes"
    return f"{value:.2f} warps" if counter.unit else f"{value:,.0f}"
