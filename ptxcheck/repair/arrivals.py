"""Arrivals at one mbarrier, as a run brings them."""

from __future__ import annotations

from collections.abc import Sequence

from ..protocols.actions import Arrive, AsyncArrive, Barrier, Strand


def arrivals_of_a_phase(strands: Sequence[Strand], barrier: Barrier) -> list[int]:
    """Return how many arrivals the instructions bring that arrive there once each: together, then one by one."""
    by_point: dict[int, int] = {}
    for strand in strands:
        seen: set[int] = set()
        for action in strand.actions:
            if (
                isinstance(action, Arrive | AsyncArrive)
                and action.barrier == barrier
                and action.point not in seen
            ):
                seen.add(action.point)
                by_point[action.point] = by_point.get(action.point, 0) + action.count
    return [n for n in dict.fromkeys([sum(by_point.values()), *sorted(by_point.values())]) if n > 0]
