"""Run the suite on the GPU: each variant under each setting; what may hang runs behind everything else."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ptxcheck.repair.device import Device
from ptxcheck.repair.outcome import RunResult

from .litmus_test import Kind, Litmus, Variant
from .program import digest, kernel_name, program, region_bytes
from .results import (
    Campaign,
    Count,
    Measured,
    Setting,
    counts_of,
    is_weak,
    read_campaign,
    read_campaigns,
    write_campaign,
)
from .table import SUITE

_BOUNDS = ((0, 0), (0, 255), (255, 0), (2047, 2047), (0, 8191), (8191, 0))
SETTINGS = tuple(Setting(a, b, pressure) for pressure in (False, True) for a, b in _BOUNDS)
"""Least delays first. Bounds are a power of two less one: the kernels mask with them."""
_SECONDS = {Kind.CONTROL: 0.2, Kind.ASKED: 1.3, Kind.BROKEN: 0.05}
"""At most so long a setting."""
_SHOWN_SECONDS = 0.1
"""A setting of a variant that has shown weak outcomes."""
_ENOUGH = 1_300_000_000 // len(SETTINGS)
"""Hand-overs of a setting after which it ends."""
_GRACE_SECONDS = 4.0
_COMMAND = (sys.executable, "-m", "benchmarks.litmus.worker")


def run_suite(out: Path, *, scale: float, only: str, short_of: int, deadline_seconds: float) -> str:
    """Add the counts of all variants whose name contains `only` and that the file has not; return how many ran.

    Where `short_of` is not 0, only what has shown nothing weak yet, in fewer hand-overs.
    """
    earlier = read_campaigns() if short_of else ()
    chosen = [
        (litmus, variant)
        for litmus in SUITE
        for variant in litmus.variants
        if only in kernel_name(litmus, variant)
        and (not short_of or _is_short(earlier, litmus, variant, short_of))
    ]
    chosen.sort(key=lambda pair: pair[1].may_hang)
    deadline = time.monotonic() + deadline_seconds
    gpu, driver, clocks, target = _environment()
    chosen = [(litmus, variant) for litmus, variant in chosen if litmus.target == target]
    known = read_campaign(out).measured if out.exists() else ()
    campaign = Campaign(gpu, driver, clocks, time.strftime("%Y-%m-%d"), known)
    have = {(measured.kernel, measured.digest) for measured in known}
    chosen = [
        (litmus, variant)
        for litmus, variant in chosen
        if (kernel_name(litmus, variant), digest(program(litmus, variant))) not in have
    ]
    with Device(Path("-"), limit_seconds=_GRACE_SECONDS, command=_COMMAND) as device:
        for litmus, variant in chosen:
            if time.monotonic() > deadline:
                break
            measured = _measured(device, litmus, variant, scale)
            print(_line(measured), flush=True)
            campaign = replace(campaign, measured=(*campaign.measured, measured))
            write_campaign(out, campaign)
    return f"{len(campaign.measured) - len(known)} of {len(chosen)} variants on {gpu}, driver {driver}"


def _is_short(campaigns: tuple[Campaign, ...], litmus: Litmus, variant: Variant, enough: int) -> bool:
    """Whether the kernel as it is now was not seen to be weak, in fewer than `enough` hand-overs."""
    counts = counts_of(campaigns, litmus, variant)
    if not counts:
        return True
    is_asked = variant.kind is not Kind.CONTROL
    return is_asked and not is_weak(counts) and sum(count.hand_overs for count in counts) < enough


def _measured(device: Device, litmus: Litmus, variant: Variant, scale: float) -> Measured:
    text = program(litmus, variant)
    image = device.stored(text)
    return Measured(
        kernel_name(litmus, variant), digest(text), tuple(_counts(device, litmus, variant, scale, image))
    )


def _counts(device: Device, litmus: Litmus, variant: Variant, scale: float, image: str) -> Iterator[Count]:
    """Yield the counts of each setting, up to the first that does not end."""
    seconds = scale * _SECONDS[variant.kind]
    for setting in SETTINGS:
        request = {
            "image": image, "kernel": kernel_name(litmus, variant), "loops": litmus.rounds,
            "seconds": seconds, "enough": _ENOUGH,
            "ctas": litmus.ctas, "threads": litmus.threads, "cluster": litmus.cluster,
            "shared": litmus.size if litmus.dynamic else 0, "data": litmus.ctas * region_bytes(litmus),
            "dependent": litmus.dependent, "late_a": setting.late_a, "late_b": setting.late_b,
            "pressure": setting.pressure,
        }  # fmt: skip
        answer = device.ask(request, seconds + _GRACE_SECONDS)
        if isinstance(answer, RunResult):
            yield Count(setting, 0, 0, 0, 0.0, answer.outcome.value, answer.detail[:200])
            return
        if "outcome" in answer:
            yield Count(setting, 0, 0, 0, 0.0, str(answer["outcome"]), str(answer["detail"])[:200])
            return
        if answer["weak"]:
            seconds = min(seconds, scale * _SHOWN_SECONDS)
        yield Count(
            setting, answer["launches"], answer["hand_overs"], answer["weak"], answer["seconds"], "ended"
        )


def _line(measured: Measured) -> str:
    total = sum(count.hand_overs for count in measured.counts)
    weak = sum(count.weak for count in measured.counts)
    failed = [f"{count.outcome} {count.detail}" for count in measured.counts if count.outcome != "ended"]
    return f"{measured.kernel}: {total:,} hand-overs, {weak:,} weak {' '.join(failed)}"


def _environment() -> tuple[str, str, str, str]:
    """Return GPU, driver, clocks, and the target of its own features."""
    query = "name,driver_version,clocks.sm,clocks.mem,compute_cap"
    done = subprocess.run(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    )
    name, driver, sm, memory, capability = (part.strip() for part in done.stdout.splitlines()[0].split(","))
    return name, driver, f"SM {sm}, memory {memory}", f"sm_{capability.replace('.', '')}a"
