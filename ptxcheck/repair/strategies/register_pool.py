"""Ask for as many registers as the block has: fewer for an increase, or no increase; one count for a warpgroup."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate
from ...protocols.typestate.register_count import RegisterCount
from ..patch import Patch, Writer, combined
from ..subject import Subject

_STEP = 8
_LEAST = 24
"""Counts are multiples of 8 from 24 to 256 (PTX ISA §9.7.20.5)."""


def balance_registers(subject: Subject) -> Iterator[Patch]:
    """Yield lower counts for every increase of the kernel, the highest first, and the removal of the increases."""
    if subject.finding.rule != "WG013":
        return
    writer, pool = Writer(subject.view), subject.view.get(RegisterCount)
    points = [point for point in sorted(pool.counts) if pool.is_increase(point)]
    highest = max(pool.counts[point] for point in points)
    for cost, count in enumerate(range(highest - _STEP, _LEAST, -_STEP)):
        changed = [point for point in points if pool.counts[point] > count]
        edits = [writer.with_operand(point, "count", Immediate(count)) for point in changed]
        yield combined("register pool", f"take {count} registers instead of {highest}", 1 + cost, edits)
    edits = [writer.delete(point) for point in points]
    yield combined("register pool", "take no more registers", _STEP, edits)
