"""Names of barriers: of two kinds, or of two CTAs, they are never the same."""

from __future__ import annotations

from itertools import combinations

from ptxcheck.protocols.model.actions import Barrier
from ptxcheck.protocols.model.sync_objects import (
    ClusterBarrier,
    HaltPoint,
    LockstepBarrier,
    NamedBarrier,
    RegisterBudget,
    WarpBarrier,
    concerns,
)


def test_names_of_two_kinds_with_the_same_numbers_differ() -> None:
    of_two = [Barrier(0, 1), NamedBarrier(0, 1)]
    of_three = [WarpBarrier(0, 1, 2), LockstepBarrier(0, 1, 2), HaltPoint(0, 1, 2)]
    names = [*of_two, *of_three, ClusterBarrier(), RegisterBudget(0)]
    assert all(one != other for one, other in combinations(names, 2))
    assert len(set(names)) == len(names)


def test_only_the_barrier_of_the_cluster_concerns_all_ctas() -> None:
    assert [concerns(NamedBarrier(1, 0), cta) for cta in (0, 1)] == [False, True]
    assert [concerns(ClusterBarrier(), cta) for cta in (0, 1)] == [True, True]
