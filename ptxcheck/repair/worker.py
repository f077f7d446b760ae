"""The process that owns the GPU: one JSON request a line on standard input, one JSON answer a line.

    python -m ptxcheck.repair.worker HARNESS

Requests: {"op": "run", "image": path, "cases": [0, 1], "repeat": 3} and
{"op": "time", "images": [path, path], "case": 0, "rounds": 30}. The first line that it writes is the environment.
After a fault the process ends, because its context is lost; after a hang its parent kills it.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .harness import Harness
from .harness_files import load_harness
from .outcome import Outcome, RunResult

try:
    from .driver import (
        Context,
        DriverError,
        Kernel,
        Prepared,
        Stopwatch,
    )
except ImportError:
    sys.stderr.write("cuda-python is not installed: pip install 'ptxcheck[hardware]'\n")
    raise SystemExit(2) from None


def main(arguments: Sequence[str]) -> int:
    """Answer requests until standard input ends."""
    try:
        harness = load_harness(Path(arguments[0]))
        context = Context()
    except Exception as error:  # the library has errors of its own for a missing driver
        _answer({"error": str(error)})
        return 2
    facts = context.facts
    _answer({"gpu": facts.name, "capability": facts.capability, "driver": facts.driver, "clocks": _clocks()})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            _answer(_OPERATIONS[request["op"]](harness, context, request))
        except DriverError as error:
            kind = Outcome.FAULT if error.fatal else Outcome.REFUSED
            _answer(RunResult(kind, str(error)).to_json())
            if error.fatal:
                return 1
        except Exception as error:
            _answer(RunResult(Outcome.BROKEN, f"{type(error).__name__}: {error}").to_json())
    return 0


def _answer(table: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(table) + "\n")
    sys.stdout.flush()


def _run(harness: Harness, context: Context, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Launch a kernel on each case `repeat` times; stop at the first result that is not right."""
    kernel = Kernel(Path(request["image"]).read_bytes(), harness.kernel)
    runs = 0
    try:
        for index in request["cases"]:
            case = harness.cases[index]
            prepared = Prepared(context, kernel, harness.plan(case))
            try:
                for _ in range(request["repeat"]):
                    prepared.reset()
                    before = prepared.results()
                    prepared.launch()
                    context.synchronize()
                    runs += 1
                    wrong = harness.verdict(case, before, prepared.results())
                    if wrong:
                        return RunResult(Outcome.WRONG, wrong, index, runs).to_json()
            except DriverError as error:
                kind = Outcome.FAULT if error.fatal else Outcome.REFUSED
                if error.fatal:
                    _answer(RunResult(kind, str(error), index, runs).to_json())
                    raise SystemExit(1) from error
                return RunResult(kind, str(error), index, runs).to_json()
            finally:
                _quietly(prepared.free)
    finally:
        _quietly(kernel.unload)
    return RunResult(Outcome.RIGHT, "", -1, runs).to_json()


def _quietly(release: Any) -> None:
    with contextlib.suppress(DriverError):  # the context is lost: the process ends next
        release()


def _time(harness: Harness, context: Context, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Time several kernels in turn, round after round, each with an empty L2 cache; milliseconds.

    Every other round goes the other way: which one comes first makes up to 3 % of a kernel of 18 µs.
    """
    plan = harness.plan(harness.cases[request["case"]])
    kernels = [Kernel(Path(path).read_bytes(), harness.kernel) for path in request["images"]]
    prepared = [Prepared(context, kernel, plan) for kernel in kernels]
    times: list[list[float]] = [[] for _ in kernels]
    watch = Stopwatch(context)
    for round_number in range(request["rounds"] + 1):
        for which, one in list(enumerate(prepared))[:: 1 if round_number % 2 else -1]:
            one.reset()
            context.flush_l2()
            watch.start()
            one.launch()
            elapsed = watch.stop()
            if round_number:  # the first round warms up
                times[which].append(elapsed)
    for one in prepared:
        one.free()
    for kernel in kernels:
        kernel.unload()
    return {"times": times}


_OPERATIONS = {"run": _run, "time": _time}


def _clocks() -> str:
    try:
        import pynvml
    except ImportError:
        return ""
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        graphics = pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
        memory = pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM)
    except pynvml.NVMLError:
        return ""
    return f"SM {graphics} MHz, memory {memory} MHz"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
