"""Arrivals and bytes at one mbarrier, as a run brings them."""

from __future__ import annotations

from collections.abc import Sequence

from ..protocols.model.actions import (
    Arrive,
    AsyncArrive,
    Barrier,
    Strand,
    Transfer,
)


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


def bytes_of_a_phase(strands: Sequence[Strand], barrier: Barrier) -> list[int]:
    """Return how many bytes the copies bring that complete there when each thread makes each of them once, if known."""
    copies: dict[tuple[int, int], int] = {}
    for index, strand in enumerate(strands):
        for action in strand.actions:
            for target, amount in action.completes if isinstance(action, Transfer) else ():
                if target == barrier and isinstance(amount, int):
                    copies.setdefault((index, action.point), amount)
    total = sum(copies.values())
    return [total] if total > 0 else []
