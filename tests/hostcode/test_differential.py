"""Compiled C++ programs against their interpretation: no run escapes it, and "never legal" is never wrong."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from ptxcheck.descriptors import Platform, TiledMap, violations
from ptxcheck.hostcode.encode import Broken
from ptxcheck.hostcode.find import encodes_in, issues_in
from ptxcheck.hostcode.machine import Encode
from ptxcheck.hostcode.values import (
    Array,
    Integer,
    Value,
    bounds,
)
from ptxcheck.source import Source

from . import programs

COMPILER = shutil.which("g++")
Run = tuple[int, ...]
"""type, swizzle, dims, strides, box, steps as the program had them."""


def runs(folder: Path, text: str) -> dict[int, list[Run]]:
    """Compile and run a program; return what it encoded, by the number of the place and of the call."""
    (folder / "prelude.h").write_text(programs.PRELUDE)
    (folder / "p.cpp").write_text(text)
    assert COMPILER is not None
    subprocess.run([COMPILER, "-std=c++17", "-w", "-o", "p", "p.cpp"], cwd=folder, check=True)
    output = subprocess.run(["./p"], cwd=folder, check=True, capture_output=True, text=True).stdout
    found: dict[int, list[Run]] = defaultdict(list)
    for line in output.splitlines():
        number, *rest = map(int, line.split())
        found[number].append(tuple(rest))
    return found


def fields(encode: Encode) -> list[Value]:
    """Return the values of a call in the order of a run."""

    def entry(value: Value, i: int) -> Value | None:
        return value.items[i] if isinstance(value, Array) and i < len(value.items) else None

    a = encode.arguments
    parts = [a[1], a[9], entry(a[4], 0), entry(a[4], 1), entry(a[5], 0)]
    parts += [entry(a[6], 0), entry(a[6], 1), entry(a[7], 0), entry(a[7], 1)]
    return [part for part in parts if part is not None] if None not in parts else []


def holds(encode: Encode, run: Run) -> bool:
    """Whether each value of a run is among those of a call."""
    values = fields(encode)
    for value, number in zip(values, run, strict=True) if values else ():
        if not isinstance(value, Integer):
            continue
        span = bounds(value, encode.known)
        wrapped = {number, number - (1 << 64), number - (1 << 32)}
        inside = any(
            span.low <= one <= span.high and (not span.step or one % span.step == 0) for one in wrapped
        )
        if not inside and not (span.low < 0 or span.high > number):
            return False
        if (
            value.constant is not None
            and value.constant not in wrapped
            and value.constant % (1 << 32) != number
        ):
            return False
    return True


def called_with(encode: Encode) -> int | None:
    """Return the number of the place and of the call that leads to an encode."""
    address = encode.arguments[3]
    constant = address.constant if isinstance(address, Integer) else None
    return None if constant is None else constant // 16


def map_of(run: Run) -> TiledMap:
    return TiledMap(
        data_type=run[0],
        swizzle=run[1],
        global_dim=(run[2], run[3]),
        global_strides=(run[4],),
        box_dim=(run[5], run[6]),
        element_strides=(run[7], run[8]),
    )


@pytest.mark.skipif(COMPILER is None, reason="no g++")
@pytest.mark.parametrize("seed", range(3))
def test_no_run_escapes(seed: int, tmp_path: Path) -> None:
    text = programs.program(seed, functions=12, calls=4)
    found = runs(tmp_path, text)
    by_number: dict[int, list[Encode]] = defaultdict(list)
    for encode in encodes_in(Source("p.cpp", text)):
        number = called_with(encode)
        if number is not None and len(encode.frames) > 1:
            by_number[number].append(encode)
    assert sum(map(len, found.values())) > 50
    for number, happened in found.items():
        for run in happened:
            assert any(holds(encode, run) for encode in by_number[number]), (number, run)


@pytest.mark.skipif(COMPILER is None, reason="no g++")
@pytest.mark.parametrize("seed", range(10, 13))
def test_never_legal_is_never_wrong(seed: int, tmp_path: Path) -> None:
    """Where a fault at one place is certain for one call, and the place is reached, a run has the fault."""
    text = programs.program(seed, functions=12, calls=4)
    found = runs(tmp_path, text)
    certain = 0
    for issue in issues_in(Source("p.cpp", text), [Platform()]):
        number = called_with(issue.encode)
        if not isinstance(issue.fault, Broken) or number is None or len(issue.encode.frames) < 2:
            continue
        happened = found.get(number, [])
        key = (issue.fault.constraint.id, issue.fault.index)
        broken = [key in {(v.constraint.id, v.index) for v in violations(map_of(run))} for run in happened]
        if happened:
            certain += 1
            assert any(broken), (seed, number, key, happened)
    assert certain > 5
