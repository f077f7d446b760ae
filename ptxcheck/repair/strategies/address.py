"""Point at the neighbouring mbarrier, or at the neighbouring slot: off by one stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...ir import Address, Immediate
from ..patch import Patch, Writer, combined
from ..sites import nearest, sites_of
from ..subject import Subject

_BYTES = 8
"""Of an mbarrier."""
_FAMILIES = ("MB", "TX", "SM", "CL", "BG")
_FAR = 4


def move_address(subject: Subject) -> Iterator[Patch]:
    """Yield each mbarrier operand one place up and down, and each copy one box up and down, the nearest first."""
    if not subject.finding.rule.startswith(_FAMILIES):
        return
    instructions = subject.view.body.instructions
    for far, point in enumerate(nearest(sites_of(subject.view), subject.around)):
        near = 0 if point in subject.around else _FAR + far // 2
        outlier = min(far, 2)
        for name, distance in _distances(subject, point):
            address = instructions[point].get(name)
            if not isinstance(address, Address):
                continue
            for change in (-distance, distance):
                offset = address.offset + change
                edit = Writer(subject.view).with_operand(point, name, replace(address, offset=offset))
                plainer = abs(offset) < abs(address.offset)
                summary = f"{change:+} bytes: [{offset:+}] instead of [{address.offset:+}]"
                yield combined("address", summary, 2 + outlier if plainer else 4 + near, [edit])


def _distances(subject: Subject, point: int) -> Iterator[tuple[str, int]]:
    instruction = subject.view.body.instructions[point]
    yield ("mbar" if instruction.get("mbar") is not None else "addr"), _BYTES
    size = instruction.get("size")
    if isinstance(size, Immediate):
        yield "dst", size.value
