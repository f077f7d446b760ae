"""One use of the device: does a kernel give the right results, also under delays, and how long does it take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..ir import Module
from ..parser import parse_module
from ..source import Source
from .device import Device
from .harness import Harness, HarnessError, MapArgument, plan_of
from .harness_files import load_harness
from .metrics import Profile, profile, profile_lines
from .outcome import Environment, Outcome, RunResult
from .prepared import worker_file
from .sanitizer import (
    COUNTING,
    Sanitized,
    Tool,
    sanitize,
)
from .timing import Comparison, compare

_SLOWER_UNDER_TOOLS = 6.0
_MAP_BYTES = 128
_POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run: the kernel, delayed forms of it, and perhaps another kernel to compare its time with."""

    image: str
    delayed: Sequence[str] = ()
    against: str | None = None
    repeat: int = 3
    rounds: int = 30
    sanitizer: str | None = None
    """Path of compute-sanitizer; None leaves it out."""
    profiled: Sequence[str] = ()
    """Kernels that Nsight Compute is asked about: the one before, the one behind."""


@dataclass(frozen=True, slots=True)
class Session:
    """What was seen. `delayed` has one result a delayed form, none when the kernel itself is not right."""

    kernel: str
    environment: Environment
    result: RunResult
    delayed: tuple[RunResult, ...]
    timing: Comparison | RunResult | None
    """Median times; of the kernel with itself when there was nothing to compare with. None: not timed."""
    sanitized: tuple[Sanitized, ...] = ()
    """What Compute Sanitizer says of the first case, none when it was not asked or the kernel is not right."""
    profiles: tuple[Profile, ...] = ()
    """What Nsight Compute says of the first case, of each kernel that it was asked about."""

    @property
    def is_right(self) -> bool:
        """Tell whether every run of every form was right."""
        return all(r.outcome is Outcome.RIGHT for r in (self.result, *self.delayed))

    @property
    def is_valid(self) -> bool:
        """Tell whether every run was right and no tool of Compute Sanitizer whose errors count reports one."""
        return self.is_right and not any(each.errors for each in self.sanitized if each.tool in COUNTING)


def run_session(
    harness: Path, plan: Plan, *, limit_seconds: float = 10.0, command: Sequence[str] | None = None
) -> Session:
    """Run a plan. Raises NoDeviceError when there is no GPU, and HarnessError."""
    loaded = load_harness(harness)
    for text in (plan.image, plan.against):
        if text is not None:
            check_parameters(parse_module(Source(f"{loaded.kernel}.ptx", text)), loaded)
    with worker_file(harness, loaded) as path:
        return _run_session(path, loaded, plan, limit_seconds, command)


def _run_session(
    harness: Path, loaded: Harness, plan: Plan, limit_seconds: float, command: Sequence[str] | None
) -> Session:
    cases = list(range(len(loaded.cases)))
    with Device(harness, limit_seconds=limit_seconds, command=command) as device:
        assert device.environment is not None
        environment = device.environment
        result = device.run(plan.image, cases, plan.repeat)
        delayed: tuple[RunResult, ...] = ()
        timing: Comparison | RunResult | None = None
        if result.outcome is Outcome.RIGHT:
            delayed = tuple(device.run(text, cases, plan.repeat) for text in plan.delayed)
            if plan.rounds:
                timing = _timed(device, plan)
    sanitized: tuple[Sanitized, ...] = ()
    if plan.sanitizer is not None and result.outcome is Outcome.RIGHT:
        limit = limit_seconds * _SLOWER_UNDER_TOOLS
        sanitized = tuple(
            sanitize(harness, plan.image, cases[:1], tool, plan.sanitizer, limit_seconds=limit)
            for tool in Tool
        )
    profiles = tuple(
        profile(harness, loaded.kernel, image, 0, limit_seconds=limit_seconds * _SLOWER_UNDER_TOOLS)
        for image in plan.profiled
    )
    return Session(loaded.kernel, environment, result, delayed, timing, sanitized, profiles)


def check_parameters(module: Module, harness: Harness) -> None:
    """See that a kernel takes the arguments of a harness: the driver trusts that they are so many, and so large.

    Raises HarnessError. A module without the kernel is left to the driver.
    """
    function = next((f for f in module.functions if f.is_entry and f.name == harness.kernel), None)
    if function is None or not harness.cases:
        return
    arguments = plan_of(harness, harness.cases[0]).arguments
    passed = {name: _parameter_bytes(argument) for name, argument in arguments.items()}
    taken = [size for _, size, _ in function.parameter_places]
    if list(passed.values()) != taken:
        shown = ", ".join(f"{name} ({size})" for name, size in passed.items())
        raise HarnessError(
            f"{harness.kernel} has parameters of {taken} bytes, and the harness passes {shown}: the two are not of one "
            "compilation"
        )


def _parameter_bytes(argument: Any) -> int:
    if isinstance(argument, MapArgument):
        return _MAP_BYTES
    return _POINTER_BYTES if isinstance(argument, np.ndarray) else int(argument.nbytes)


def _timed(device: Device, plan: Plan) -> Comparison | RunResult:
    other = plan.image if plan.against is None else plan.against
    times = device.time([other, plan.image], 0, plan.rounds)
    return times if isinstance(times, RunResult) else compare(times[0], times[1])


def session_json(session: Session) -> str:
    """Return a session as JSON."""
    timing: Any = session.timing
    if isinstance(timing, RunResult):
        timing = timing.to_json()
    elif timing is not None:
        timing = asdict(timing)
    table = {
        "kernel": session.kernel,
        "environment": asdict(session.environment),
        "result": session.result.to_json(),
        "delayed": [result.to_json() for result in session.delayed],
        "timing": timing,
        "sanitizer": [asdict(each) for each in session.sanitized],
        "metrics": [each.to_json() for each in session.profiles],
        "right": session.is_right,
    }
    return json.dumps(table, indent=2) + "\n"


def session_text(session: Session, *, compared: bool) -> str:
    """Return a session for people."""
    place = session.environment
    major, minor = divmod(place.driver, 1000)
    lines = [
        f"{session.kernel} on {place.gpu}, driver for CUDA {major}.{minor // 10}"
        + (f", {place.clocks}" if place.clocks else ""),
        f"  as it is       {_shown(session.result)}",
    ]
    lines += [f"  with delays {n}  {_shown(result)}" for n, result in enumerate(session.delayed, 1)]
    lines += [f"  {each.tool:<14} {_said(each)}" for each in session.sanitized]
    timing = session.timing
    if isinstance(timing, RunResult):
        lines.append(f"  time           {_shown(timing)}")
    elif timing is not None:
        lines.append(
            f"  time           {timing.second_median * 1e3:.1f} µs, half of {timing.rounds} rounds within "
            f"{timing.second_spread * 1e3:.1f} µs; L2 flushed"
        )
        if compared:
            lines.append(f"  the other      {timing.first_median * 1e3:.1f} µs")
            lines.append(f"  ratio          {timing.ratio:.3f} (95 %: {timing.low:.3f} to {timing.high:.3f})")
    lines += [f"  {line}" for line in profile_lines(session.profiles)]
    return "\n".join(lines) + "\n"


def _shown(result: RunResult) -> str:
    where = f" in case {result.case}" if result.case >= 0 else ""
    runs = "run" if result.runs == 1 else "runs"
    detail = f": {result.detail}" if result.detail else ""
    return f"{result.outcome.value}{where} ({result.runs} {runs}){detail}"


def _said(each: Sanitized) -> str:
    if each.errors is None:
        return f"no answer: {each.detail}"
    return f"{each.errors} errors: {each.detail}" if each.errors else "no errors"
