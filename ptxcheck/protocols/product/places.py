"""Bytes of shared memory, cut into cells: those that the same accesses may reach.

Property: two groups of spans have a cell in common where they have a byte in common.

Argument: the groups that cover a byte change only where a span starts or ends. Between two such places all bytes are
covered alike; places that are covered by the same groups are one cell.

Not covered: bytes behind the end of a slot that a copy of unknown size may reach, see `order.extents`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..order.conflicts import Place, Spans


def cells_of(groups: Sequence[Spans]) -> list[tuple[int, ...]]:
    """Return the numbers of the cells of each group of spans."""
    changes: dict[Place, list[tuple[int, int]]] = {}
    for number, spans in enumerate(groups):
        for span in spans:
            if span.size > 0:
                changes.setdefault((span.cta, span.start), []).append((number, 1))
                changes.setdefault((span.cta, span.end), []).append((number, -1))
    found: list[list[int]] = [[] for _ in groups]
    counts = [0] * len(groups)
    active: set[int] = set()
    name, seen = 0, set[int]()
    for place in sorted(changes):
        for number, change in changes[place]:
            was = counts[number] > 0
            counts[number] += change
            if was != (counts[number] > 0):
                name ^= 1 << number
                active ^= {number}
        if active and name not in seen:
            for number in sorted(active):
                found[number].append(len(seen))
            seen.add(name)
    return [tuple(each) for each in found]
