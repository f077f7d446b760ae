"""How many stages rings of mbarriers have, and from how many places a strand uses them, as far as a run shows."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import TypeAlias

from .actions import Arrive, AsyncArrive, Barrier, Expect, Init, Protocol, Strand, Wait

_OBJECT = 8


Points: TypeAlias = frozenset[int]


def stages_of(protocol: Protocol) -> dict[Points, int]:
    """Return, for the instructions of a strand that act at one ring, how many mbarriers they go through in turn.

    Mbarriers at which one instruction acts are of one ring, and so are the next ones at the same distance and with the
    same count, unless the strand uses these in another ring: a run with few rounds does not come to all stages.
    """
    counts = {a.barrier: a.count for s in protocol.strands for a in s.actions if isinstance(a, Init)}
    found: dict[Points, int] = {}
    for strand in protocol.strands:
        for points, ring in _rings(strand, counts):
            found[points] = max(found.get(points, 0), len(ring))
    return found


def copies(protocol: Protocol) -> int:
    """Return from how many places a strand expects bytes, or arrives, at one mbarrier: an unrolled body has many."""
    places: dict[tuple[int, Barrier], set[int]] = {}
    for index, strand in enumerate(protocol.strands):
        for action in strand.actions:
            if isinstance(action, Arrive | Expect):
                places.setdefault((index, action.barrier), set()).add(action.point)
    return max(map(len, places.values()), default=0)


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
