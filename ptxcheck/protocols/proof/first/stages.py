"""How many stages rings of mbarriers have, and from how many places a strand uses them, as far as a run shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from ...model.actions import (
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Init,
    Protocol,
    Strand,
    Wait,
)

_OBJECT = 8


Points: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True)
class Ring:
    """A ring as the instructions of a strand that act there use it."""

    stages: int
    """Mbarriers that they go through in turn."""
    copies: int
    """Places from which they do one thing (expect bytes, arrive) at one mbarrier: an unrolled body has many."""

    def joined(self, other: Ring) -> Ring:
        """Return what is seen of a ring in one run or another."""
        return Ring(max(self.stages, other.stages), max(self.copies, other.copies))


def stages_of(protocol: Protocol) -> dict[Points, Ring]:
    """Return the ring of the instructions of a strand that act at one.

    Mbarriers at which one instruction acts are of one ring, and so are the next ones at the same distance and with the
    same count, unless the strand uses these in another ring: a run with few rounds does not come to all stages.
    """
    counts = {a.barrier: a.count for s in protocol.strands for a in s.actions if isinstance(a, Init)}
    found: dict[Points, Ring] = {}
    for strand in protocol.strands:
        copies = _copies(strand)
        for points, barriers in _rings(strand, counts):
            ring = Ring(len(barriers), max(copies.get(barrier, 0) for barrier in barriers))
            found[points] = found.get(points, ring).joined(ring)
    return found


def joined(rings: Iterable[tuple[Points, Ring]]) -> dict[Points, Ring]:
    """Return rings with those put together that share an instruction: what runs tell apart may be one in another."""
    found: dict[Points, Ring] = {}
    for points, ring in rings:
        for other in [other for other in found if other & points]:
            points, ring = points | other, ring.joined(found.pop(other))
        found[points] = ring
    return found


def _copies(strand: Strand) -> dict[Barrier, int]:
    """Return from how many places a strand does one thing at each mbarrier, at most."""
    places: dict[tuple[Barrier, type[object]], set[int]] = {}
    for action in strand.actions:
        if isinstance(action, Arrive | AsyncArrive | Expect):
            places.setdefault((action.barrier, type(action)), set()).add(action.point)
    found: dict[Barrier, int] = {}
    for (barrier, _), points in places.items():
        found[barrier] = max(found.get(barrier, 0), len(points))
    return found


def _rings(strand: Strand, counts: dict[Barrier, int]) -> Iterator[tuple[Points, set[Barrier]]]:
    """Yield the mbarriers of each ring of a strand, with the instructions that act there."""
    used: dict[int, set[Barrier]] = {}
    for action in strand.actions:
        if isinstance(action, Arrive | AsyncArrive | Expect | Wait):
            used.setdefault(action.point, set()).add(action.barrier)
    rings: list[tuple[set[int], set[Barrier]]] = []
    for point, found in used.items():
        points, ring = {point}, {barrier for barrier in found if barrier.cta == min(found).cta}
        apart = []
        for others, other in rings:
            if other & ring:
                points |= others
                ring |= other
            else:
                apart.append((others, other))
        rings = [*apart, (points, ring)]
    for points, ring in rings:
        others_used = set().union(*(other for _, other in rings if other is not ring))
        yield frozenset(points), _extended(ring, others_used, counts)


def _extended(ring: set[Barrier], others: set[Barrier], counts: dict[Barrier, int]) -> set[Barrier]:
    first = min(ring)
    step = gcd(*(barrier.offset - first.offset for barrier in ring)) or _OBJECT
    found = set(ring)
    for barrier, way in ((first, -step), (max(ring), step)):
        following = Barrier(barrier.cta, barrier.offset + way)
        while (
            counts.get(following) == counts.get(barrier) and following in counts and following not in others
        ):
            found.add(following)
            following = Barrier(barrier.cta, following.offset + way)
    return found
