"""What threads do between two meetings: the instructions before and behind a barrier of the CTA, up to the next ones.

Only for barriers where all threads that take part come to the same instruction together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from ptxcheck.cfg import Facts
from ptxcheck.cfg.uniform import Uniformity
from ptxcheck.opcodes.op import Op

from .effects import POLLS, Effect, Kind, effects

Group: TypeAlias = tuple[int, int | None]
"""Number of a barrier, and threads that take part, None for all of the CTA."""

_NAMED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
_UNKNOWN = (-1, None)
_MULTICAST = frozenset({"multicast", "multicast32"})
_OF_CLUSTERS = frozenset({Op.MAPA, Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT})


@dataclass(frozen=True)
class Meetings:
    """The barriers of one kernel that whole groups of threads come to together."""

    facts: Facts

    def group(self, point: int) -> Group | None:
        """Return who meets at a barrier, None when it is none that they surely come to together."""
        found = self._all_numbers[point]
        if found is None or found == _UNKNOWN:
            return None
        for other, numbers in enumerate(self._all_numbers):
            if numbers == _UNKNOWN or (numbers == found and not self.meets(found, other)):
                return None
        return found

    @cached_property
    def _all_numbers(self) -> tuple[Group | None, ...]:
        """What the barriers of the CTA count, by their points; None for all other instructions."""
        return tuple(self._numbers(point) for point in range(len(self.facts.cfg.instructions)))

    def _numbers(self, point: int) -> Group | None:
        """Return what a barrier of the CTA counts, `_UNKNOWN` where that is no constant."""
        instruction = self.facts.cfg.instructions[point]
        if instruction.operation.op not in _NAMED:
            return None
        number, threads = instruction.get("barrier"), instruction.get("threads")
        known = self.facts.constant(point, number)
        count = None if threads is None else self.facts.constant(point, threads)
        is_open = known is None or (threads is not None and count is None)
        if instruction.operation.op is not Op.BAR_SYNC or instruction.guard is not None or is_open:
            return _UNKNOWN
        assert known is not None
        return known, count

    def meets(self, group: Group, point: int) -> bool:
        """Tell whether all threads of a group come to a point together, or none."""
        if group[1] is None:
            return self.facts.execution(point).uniformity <= Uniformity.CTA
        start = self._start(group)
        return start is not None and self._goes_alike(start, point)

    def _start(self, group: Group) -> int | None:
        """Return the block through which all threads of a group come to their meetings: as many as those count."""
        cfg = self.facts.cfg
        sites = {cfg.graph.block_of[p] for p, each in enumerate(self._all_numbers) if each == group}
        block = next(iter(sites), None)
        while block is not None and not all(cfg.dominators.dominates(block, site) for site in sites):
            block = cfg.dominators.parent[block]
        return block

    def _goes_alike(self, start: int, point: int) -> bool:
        """Tell whether threads that were together in a block go the same way to a point, or not, at each branch."""
        cfg = self.facts.cfg
        if not cfg.dominators.dominates(start, cfg.graph.block_of[point]):
            return False
        seen: set[int] = set()
        work = [cfg.graph.block_of[point]]
        while work:
            for dependence in cfg.control[work.pop()]:
                branch = dependence.branch
                if branch in seen or (branch != start and not cfg.dominators.dominates(start, branch)):
                    continue
                at = cfg.blocks[branch].last
                if any(
                    self.facts.uniform(at, each) > Uniformity.CTA for each in cfg.instructions[at].reads()
                ):
                    return False
                seen.add(branch)
                work.append(branch)
        return True

    def together(self, group: Group, point: int) -> bool:
        """Tell whether the threads of a group execute an instruction together, with the same addresses and numbers."""
        cfg = self.facts.cfg
        if any(self.facts.uniform(point, each) > Uniformity.CTA for each in cfg.instructions[point].reads()):
            return False
        loop = cfg.loop_of(point)
        if cfg.instructions[point].operation.op not in POLLS or loop is None:
            return self.meets(group, point)
        return all(
            self.together(group, cfg.blocks[dependence.branch].last)
            for dependence in cfg.control[cfg.block_at(point).index]
            if dependence.branch not in loop.blocks
        )

    def before(self, group: Group, point: int) -> Region:
        """Return what lies before a point, back to the meetings of the group."""
        return Region(self, group, tuple(self._walk(group, point, back=True)))

    def behind(self, group: Group, point: int) -> Region:
        return Region(self, group, tuple(self._walk(group, point, back=False)))

    def straight(self, group: Group, points: Iterable[int]) -> Region:
        return Region(self, group, tuple(points))

    def _walk(self, group: Group, point: int, *, back: bool) -> Iterator[int]:
        cfg = self.facts.cfg
        seen: set[int] = set()
        work = [point]
        while work:
            at = work.pop()
            block = cfg.block_at(at)
            if at == (block.start if back else block.last):
                blocks = cfg.predecessors[block.index] if back else cfg.successors[block.index]
                follow = [
                    cfg.blocks[b].last if back else cfg.blocks[b].start for b in blocks if b != cfg.exit
                ]
            else:
                follow = [at - 1 if back else at + 1]
            for each in follow:
                if each not in seen and not self._meets_again(group, each):
                    seen.add(each)
                    work.append(each)
                    yield each

    def _meets_again(self, group: Group, point: int) -> bool:
        """Tell whether a barrier is one of the group, or one of all threads that the group comes to together."""
        found = self._all_numbers[point]
        is_of_all = found is not None and found != _UNKNOWN and found[1] is None
        return found == group or (is_of_all and self.meets(group, point))

    def uses(self, number: int) -> bool:
        """Tell whether some barrier has a number, or may have it."""
        found = (each for each in self._all_numbers if each is not None)
        return any(each == _UNKNOWN or each[0] == number for each in found)

    @cached_property
    def is_alone(self) -> bool:
        """Tell whether no other CTA takes part in what a CTA does."""
        return not any(
            _MULTICAST & instruction.operation.slots.keys() or instruction.operation.op in _OF_CLUSTERS
            for instruction in self.facts.cfg.instructions
        )


@dataclass(frozen=True)
class Region:
    """Instructions with what they do for a group of threads."""

    meetings: Meetings
    group: Group
    points: tuple[int, ...]

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        facts = self.meetings.facts
        return tuple(
            effect
            for point in self.points
            for effect in effects(facts, point, together=self.meetings.together(self.group, point))
        )

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(effect.kind for effect in self.effects)
