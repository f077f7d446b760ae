"""Which runs of the machine to make: trip counts by grid, other open branches by coverage.

A branch that leaves its loop is decided by the trip count of the run; every other open predicate is taken both
ways, first each side once, then combinations, within a budget. What was not taken is reported, and bars `proved`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...cfg.cfg import Cfg
from ...spec import Trait

Flips = tuple[bool, ...]


@dataclass(slots=True)
class Plan:
    """Decisions of one run: how often each open loop goes round, and the truth of the other open predicates."""

    cfg: Cfg
    trips: int
    flips: Flips = ()
    made: list[tuple[int, bool]] = field(default_factory=list)

    def choose(self, point: int, count: int) -> bool:
        """Decide an open predicate (see `execute.Choose`)."""
        stays = _staying_side(self.cfg, point)
        if stays is not None:
            return (count % (self.trips + 1) < self.trips) == stays
        position = len(self.made)
        truth = self.flips[position] if position < len(self.flips) else False
        self.made.append((point, truth))
        return truth


def _staying_side(cfg: Cfg, point: int) -> bool | None:
    """Return the truth of the guard for which a loop-leaving branch stays in its loop, None for other branches."""
    if Trait.BRANCH not in cfg.instructions[point].operation.traits:
        return None
    block = cfg.graph.block_of[point]
    edges = cfg.graph.outgoing[block]
    loop = cfg.loop_of(point)
    if loop is None or len(edges) != 2:
        return None
    guarded = next((e for e in edges if e.guard is not None), None)
    if guarded is None:
        return None
    other = edges[1] if guarded is edges[0] else edges[0]
    inside, outside = guarded.target in loop.blocks, other.target in loop.blocks
    return inside if inside != outside else None


@dataclass(slots=True)
class Coverage:
    """What the runs of one trip count have decided."""

    runs: int = 0
    covered: set[tuple[int, bool]] = field(default_factory=set)
    left_out: set[tuple[int, bool]] = field(default_factory=set)
    """Sides of open branches that no run took, or combinations beyond the budget (with point -1)."""


def explore(cfg: Cfg, trips: int, budget: int, run: Callable[[Plan], bool], coverage: Coverage) -> None:
    """Make runs until every side of every open predicate was taken, and combinations while the budget lasts.

    `run` executes one plan and tells whether its path is possible.
    """
    waiting: deque[Flips] = deque([()])
    seen: set[Flips] = {()}
    while waiting and coverage.runs < budget:
        flips = waiting.popleft()
        plan = Plan(cfg, trips, flips)
        coverage.runs += 1
        possible = run(plan)
        if possible:
            coverage.covered.update(plan.made)
        for alternative in _alternatives(plan, len(flips)):
            if alternative not in seen:
                seen.add(alternative)
                waiting.append(alternative)
                coverage.left_out.add((plan.made[len(alternative) - 1][0], alternative[-1]))
    coverage.left_out -= coverage.covered
    if waiting:
        coverage.left_out.add((-1, True))


def _alternatives(plan: Plan, decided: int) -> Iterator[Flips]:
    for position in range(decided, len(plan.made)):
        prefix = tuple(truth for _, truth in plan.made[:position])
        yield (*prefix, not plan.made[position][1])
