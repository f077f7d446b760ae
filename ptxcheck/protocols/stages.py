"""How many stages the deepest ring of mbarriers of a protocol has, as far as a run shows."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from .actions import Arrive, AsyncArrive, Barrier, Expect, Init, Protocol, Strand, Wait

_OBJECT = 8


def most_stages(protocol: Protocol) -> int:
    """Return the most mbarriers that the instructions of one strand go through in turn.

    Mbarriers at which one instruction acts are of one ring, and so are the next ones at the same distance and with the
    same count, unless the strand uses these in another ring: a run with few rounds does not come to all stages.
    """
    counts = {a.barrier: a.count for s in protocol.strands for a in s.actions if isinstance(a, Init)}
    return max((len(ring) for strand in protocol.strands for ring in _rings(strand, counts)), default=0)


def _rings(strand: Strand, counts: dict[Barrier, int]) -> Iterator[set[Barrier]]:
    used: dict[int, set[Barrier]] = {}
    for action in strand.actions:
        if isinstance(action, Arrive | AsyncArrive | Expect | Wait):
            used.setdefault(action.point, set()).add(action.barrier)
    rings: list[set[Barrier]] = []
    for found in used.values():
        ring = {barrier for barrier in found if barrier.cta == min(found).cta}
        apart = []
        for other in rings:
            if other & ring:
                ring |= other
            else:
                apart.append(other)
        rings = [*apart, ring]
    for ring in rings:
        others = set().union(*(other for other in rings if other is not ring))
        yield _extended(ring, others, counts)


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
