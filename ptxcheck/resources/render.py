"""The placement table as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from .occupancy import Occupancy
from .table import (
    MainLoop,
    Registers,
    Resources,
    SharedUse,
    TensorAllocation,
)

_COLUMNS = 512
Line = Callable[[int], int]
"""Gives the line of a point in the PTX."""


def as_text(resources: Resources, title: str, line: Line) -> str:
    """Return the table of one kernel, lines of the PTX in brackets."""
    return "\n".join((title, *(f"  {row}" for row in _rows(resources, line)), ""))


def as_json(resources: Resources, title: str, line: Line) -> str:
    """Return the table of one kernel as one line of JSON; points are lines of the PTX."""
    found = asdict(resources) | {"name": title}
    for part in (*found["tensor"], *found["registers"], *found["conflicts"], found["loop"]):
        if part is not None and part["point"] is not None:
            part["line"] = line(part.pop("point"))
    if resources.occupancy is not None:
        found["occupancy"]["ctas"] = resources.occupancy.ctas
    if resources.loop is not None:
        found["loop"]["intensity"] = resources.loop.intensity
    return json.dumps(found, sort_keys=True)


def _rows(resources: Resources, line: Line) -> Iterator[str]:
    dynamic = " and dynamic shared memory" if resources.is_dynamic else ""
    yield f"shared memory: {resources.shared_bytes} bytes declared{dynamic}"
    for use in resources.shared:
        yield f"  {_use(use)}"
    for conflict in resources.conflicts:
        waves = f"{conflict.wavefronts} wavefronts instead of {conflict.needed}"
        yield f"  bank conflicts: {waves} [line {line(conflict.point)}]"
    if resources.occupancy is not None:
        yield _occupancy(resources.occupancy, resources)
    if resources.tensor:
        total = sum(one.most for one in resources.tensor)
        yield f"tensor memory: up to {total} of {_COLUMNS} columns"
        for allocation in resources.tensor:
            yield f"  {_allocation(allocation, line)}"
    if resources.registers:
        yield "registers per thread"
        for registers in resources.registers:
            yield f"  {_registers(registers, line)}"
    if resources.loop is not None:
        yield from _loop(resources.loop, resources, line)


def _use(use: SharedUse) -> str:
    where = use.variable if use.offset is None else f"{use.variable} + {use.offset}"
    size = "" if use.bytes is None else f", {use.bytes} bytes"
    stages = "" if use.stage_step is None else f", stages {use.stage_step} bytes apart"
    what = use.what if use.count == 1 else f"{use.count} {use.what}s"
    return f"{where}: {what}{size}{' each' if use.count > 1 else ''}{stages}"


def _occupancy(one: Occupancy, resources: Resources) -> str:
    limit = "shared memory" if one.by_shared == one.ctas < one.by_warps else "warps"
    if one.by_barriers is not None and one.by_barriers == one.ctas < min(one.by_shared, one.by_warps):
        limit = f"{resources.barriers} named barriers"
    open_ = "registers and dynamic shared memory" if resources.is_dynamic else "registers"
    ctas = "1 CTA" if one.ctas == 1 else f"{one.ctas} CTAs"
    return (
        f"an SM holds {ctas} of {one.warps} warps at most, by {limit}: {one.percent:.0f} % of its warps; "
        f"{open_} may leave room for fewer"
    )


def _allocation(one: TensorAllocation, line: Line) -> str:
    columns = str(one.least) if one.least == one.most else f"{one.least} to {one.most}"
    return f"{columns} columns{' of both CTAs of a pair' if one.pair else ''} [line {line(one.point)}]"


def _registers(one: Registers, line: Line) -> str:
    if one.point is None:
        return f"{one.count} at most at the start"
    who = f"warps {', '.join(map(str, one.warps))}" if one.warps else "some warps"
    return f"{one.count} for {who} [line {line(one.point)}]"


def _loop(loop: MainLoop, resources: Resources, line: Line) -> Iterator[str]:
    yield f"main loop [line {line(loop.point)}]: {loop.flops} operations a round"
    if loop.operand_bytes is not None:
        yield f"  reads {loop.operand_bytes} bytes of A and B from shared memory a round"
    if loop.expected_bytes is not None:
        yield f"  copies bring {loop.expected_bytes} bytes a round of the loop that starts them"
    if loop.loaded_bytes:
        yield f"  threads load {loop.loaded_bytes} bytes a round from global memory"
    if loop.intensity is None:
        yield "  bytes not known: no balance"
        return
    yield f"  {loop.intensity:.0f} operations a byte, if one round of copies feeds one round of multiplications"
    for machine in resources.machines:
        balance = machine.of(loop.rate)
        limit = (
            "its memory, where the bytes are not in L2" if loop.intensity < balance else "its matrix units"
        )
        yield f"  {machine.name} balances at {balance:.0f}: limited by {limit}"
