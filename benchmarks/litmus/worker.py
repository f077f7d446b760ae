"""The process that owns the GPU: it launches one variant under one setting of delays and counts weak outcomes.

    python -m benchmarks.litmus.worker -

Like `ptxcheck.repair.worker`, it answers one JSON request a line; `ptxcheck.repair.device` starts it again after a
fault or a hang.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ptxcheck.repair.driver import Context, DriverError, Kernel, Prepared
from ptxcheck.repair.harness import Argument, LaunchPlan
from ptxcheck.repair.outcome import Outcome, RunResult

from . import pressure
from .program import LOADED_FROM, PATTERN_BYTES, PATTERNS

_BATCH_SECONDS = 0.02
"""A launch, or a batch of short ones, takes about so long."""
_MOST_ROUNDS = 1 << 22
_MOST_LAUNCHES = 4096


def main() -> int:
    """Answer requests until standard input ends."""
    context = Context()
    facts = context.facts
    _answer({"gpu": facts.name, "capability": facts.capability, "driver": facts.driver, "clocks": ""})
    pressing = _Pressure(context)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            _answer(_measured(context, pressing, request))
        except DriverError as error:
            kind = Outcome.FAULT if error.fatal else Outcome.REFUSED
            _answer(RunResult(kind, str(error)).to_json())
            if error.fatal:
                return 1
    return 0


def _answer(table: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(table) + "\n")
    sys.stdout.flush()


class _Pressure:
    def __init__(self, context: Context) -> None:
        arguments: dict[str, Argument] = {
            "p_words": np.zeros(pressure.WORDS, np.uint32),
            "p_ns": np.uint64(0),
        }
        plan = LaunchPlan((132, 1, 1), (pressure.THREADS, 1, 1), None, 0, arguments)
        kernel = Kernel(pressure.TEXT.encode(), pressure.KERNEL)
        self._launch = Prepared(context, kernel, plan, stream=context.stream_beside())

    def start(self, seconds: float) -> None:
        self._launch.give("p_ns", np.uint64(int(seconds * 1e9)))
        self._launch.launch()
        time.sleep(0.0005)  # its CTAs are in place before those of the test


def source() -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Return what copies bring: a tile of each value, then a tile of ones and one of twos in f16."""
    words = PATTERN_BYTES // 4
    values = [*range(PATTERNS), 0x3C003C00, 0x40004000]
    filled = np.repeat(np.array(values, np.uint32), words)
    assert filled.nbytes == LOADED_FROM
    return filled


def _measured(context: Context, pressing: _Pressure, request: Mapping[str, Any]) -> dict[str, Any]:
    """Launch until the request's time or its hand-overs are reached; return launches, hand-overs and weak outcomes."""
    kernel = Kernel(Path(request["image"]).read_bytes(), request["kernel"])
    looping = bool(request["loops"])
    arguments: dict[str, Argument] = {
        "p_out": np.zeros(1, np.uint64), "p_source": source(), "p_data": np.zeros(request["data"], np.uint8),
        "p_rounds": np.uint32(0), "p_launch": np.uint32(0),
        "p_late_a": np.uint32(request["late_a"]), "p_late_b": np.uint32(request["late_b"]),
    }  # fmt: skip
    shape = (request["cluster"], 1, 1) if request["cluster"] > 1 else None
    plan = LaunchPlan(
        (request["ctas"], 1, 1), (request["threads"], 1, 1), shape, request["shared"], arguments,
        dependent=bool(request["dependent"]),
    )  # fmt: skip
    prepared = Prepared(context, kernel, plan)
    seconds = float(request["seconds"])
    if request["pressure"]:
        pressing.start(1.1 * seconds + 0.05)
    start = time.monotonic()
    size = 32 if looping else 4
    launches = rounds = 0
    enough = request["enough"] // request["ctas"]
    while time.monotonic() - start < seconds and rounds < enough:
        begun = time.monotonic()
        if looping:
            prepared.give("p_rounds", np.uint32(size))
            prepared.launch()
            launches += 1
        else:
            for _ in range(size):
                prepared.give("p_launch", np.uint32(launches))
                prepared.launch()
                launches += 1
        context.synchronize()
        rounds += size
        if time.monotonic() - begun < _BATCH_SECONDS / 2:
            size = min(size * 2, _MOST_ROUNDS if looping else _MOST_LAUNCHES)
    spent = time.monotonic() - start
    weak = int(prepared.results()["p_out"][0])
    prepared.free()
    kernel.unload()
    hand_overs = rounds * request["ctas"]
    return {"launches": launches, "hand_overs": hand_overs, "weak": weak, "seconds": round(spent, 3)}


if __name__ == "__main__":
    raise SystemExit(main())
