"""Bytes of shared memory, cut into cells: those that the same accesses may reach.

Property: two groups of spans have a cell in common where they have a byte in common.

Argument: the groups that cover a byte change only where a span starts or ends. Between two such places all bytes are
covered alike; places that are covered by the same groups are one cell.

Not covered: bytes behind the end of a slot that a copy of unknown size may reach, see `order.extents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.actions import Columns, Span, TensorAccess
from ..model.outcome import Proviso
from ..model.tensor_address import ABSOLUTE
from ..order.conflicts import Place, Spans

_GROUPS = 8


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


_UNKNOWN = "accesses of tensor memory are in order where their address is not known"
_MORE = "operands in tensor memory whose columns are not all known do not reach into others"
_FIXED = "tensor memory at fixed addresses is apart from what is allocated"


def placed_columns(
    actions: Iterable[TensorAccess], provisos: tuple[Proviso, ...]
) -> tuple[dict[tuple[Columns, ...], Spans], tuple[Proviso, ...]]:
    """Return columns as spans of banks, and what is taken for granted of places, besides what is known.

    A bank is a group of lanes of an allocation of a CTA.
    """
    banks: dict[tuple[int, int, int], int] = {}
    found: dict[tuple[Columns, ...], Spans] = {}
    texts: dict[str, None] = {}
    for action in actions:
        for columns in (action.reads, action.writes):
            if columns in found:
                continue
            spans = []
            for each in columns:
                if each.start < 0:
                    texts[_UNKNOWN] = None
                    continue
                if not each.exact:
                    texts[_MORE] = None
                for group in range(_GROUPS):
                    if each.size and each.groups >> group & 1:
                        bank = banks.setdefault((each.cta, each.origin, group), len(banks))
                        spans.append(Span(bank, each.start, each.size))
            found[columns] = tuple(spans)
    origins: dict[int, set[bool]] = {}
    for cta, origin, _ in banks:
        origins.setdefault(cta, set()).add(origin == ABSOLUTE)
    if any(len(kinds) > 1 for kinds in origins.values()):
        texts[_FIXED] = None
    return found, (*provisos, *map(Proviso, texts))
