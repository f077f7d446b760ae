"""Feasible paths of one thread: from the entry to a point of one set, then to a point of another.

Property: a `Witness` is found only for a path of the graph whose guards do not contradict each other, as far
as predicates, comparisons of registers with numbers, loop counters that start at a number and what is computed
from one of them, and thread indices tell. What is not found within the budget counts as not there, so that a rule
that asks stays silent.

Guards that decide whether a path from `first` on comes to its end must be sure (see `Conditions.is_sure`),
the tests that leave a loop around it aside.

Barred points end the search of a path where the thread executes them; a guarded one can also be skipped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ...ir import Guard
from .conditions import Assumptions, Conditions, Literal
from .live_keys import LiveKeys

if TYPE_CHECKING:
    from ...cfg import Cfg, Facts
    from ...view import KernelView

MAX_STATES = 1500
MAX_PER_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Query:
    """A path passes a point of `first` (None: the entry), then one of `then`, and no barred one between.

    `barred_before` must not be passed before `first`. Only `threads` take the path.
    """

    first: frozenset[int] | None
    then: frozenset[int]
    barred: frozenset[int] = frozenset()
    barred_before: frozenset[int] = frozenset()
    threads: int | None = None
    """As bits; None: any."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A feasible path: where it passes `first` (None: the entry) and `then`."""

    first: int | None
    then: int


class _State(NamedTuple):
    block: int
    passed: int | None
    """Point of `first` that the path has passed; `_NOT_YET` before."""
    threads: int | None
    """Threads that the guards so far leave, as bits; None when nothing is known."""
    assumed: Assumptions


_NOT_YET = -1
_ENTRY = -2


class Paths:
    """Searches of one kernel."""

    @classmethod
    def of(cls, view: KernelView) -> Paths:
        return cls(view.cfg, view.facts)

    def __init__(self, cfg: Cfg, facts: Facts) -> None:
        self._cfg = cfg
        self._conditions = Conditions(cfg, facts)
        self._live = LiveKeys(cfg, self._conditions)

    def find(self, query: Query) -> Witness | None:
        """Return a shortest feasible path, or None when there is none or the budget is spent."""
        if not query.then or not self._cfg.blocks:
            return None
        reach = _Reach(self._cfg, query)
        if not reach.is_possible:
            return None
        self._live.begin()
        return _Search(self._cfg, self._conditions, self._live, query, reach).run()


class _Reach:
    """Blocks worth going through, guards not looked at."""

    def __init__(self, cfg: Cfg, query: Query) -> None:
        self._cfg = cfg
        instructions = cfg.instructions
        closed = frozenset(p for p in query.barred - query.then if instructions[p].guard is None)
        self.to_then = self._before(query.then, closed)
        """Blocks from whose start a point of `then` can be reached."""
        if query.first is None:
            self.to_first = self.to_then
        else:
            starts = frozenset(p for p in query.first if self._goes_on(p, query.then, closed))
            barred = frozenset(p for p in query.barred_before - query.first if instructions[p].guard is None)
            self.to_first = self._before(starts, barred)

    @property
    def is_possible(self) -> bool:
        return 0 in self.to_first

    def _before(self, goals: frozenset[int], closed: frozenset[int]) -> frozenset[int]:
        """Return the blocks from whose start some goal is reachable without passing a closed point."""
        block_of = self._cfg.graph.block_of
        first_closed: dict[int, int] = {}
        for point in sorted(closed, reverse=True):
            first_closed[block_of[point]] = point
        found = {block_of[p] for p in goals if first_closed.get(block_of[p], p) >= p}
        work = list(found)
        while work:
            for source in self._cfg.predecessors[work.pop()]:
                if source not in found and source not in first_closed:
                    found.add(source)
                    work.append(source)
        return frozenset(found)

    def _goes_on(self, point: int, then: frozenset[int], closed: frozenset[int]) -> bool:
        """Tell whether a point of `then` is reachable after a point."""
        block = self._cfg.block_at(point)
        for later in range(point + 1, block.end):
            if later in then:
                return True
            if later in closed:
                return False
        return any(target in self.to_then for target in self._cfg.successors[block.index])


class _Search:
    def __init__(self, cfg: Cfg, conditions: Conditions, live: LiveKeys, query: Query, reach: _Reach) -> None:
        self._cfg = cfg
        self._conditions = conditions
        self._live = live
        self._query = query
        self._reach = reach
        self._visits: dict[tuple[int, int | None], set[tuple[int | None, int]]] = {}
        """Threads and assumptions, which `Conditions` shares, that each block was entered with."""
        self._queue: deque[_State] = deque()

    @cached_property
    def _interesting(self) -> Mapping[int, tuple[int, ...]]:
        """Points of each block at which something happens to this search."""
        query = self._query
        points = query.then | query.barred | query.barred_before | (query.first or frozenset())
        found: dict[int, list[int]] = {}
        for point in sorted(points):
            found.setdefault(self._cfg.graph.block_of[point], []).append(point)
        return {block: tuple(at) for block, at in found.items()}

    def run(self) -> Witness | None:
        passed = _ENTRY if self._query.first is None else _NOT_YET
        self._offer(_State(0, passed, self._query.threads, ()))
        turns = 0
        while self._queue and turns < MAX_STATES:
            turns += 1
            found = self._walk(self._queue.popleft())
            if found is not None:
                return found
        return None

    def _offer(self, state: _State) -> None:
        useful = self._reach.to_first if state.passed == _NOT_YET else self._reach.to_then
        if state.block not in useful:
            return
        known = self._visits.setdefault((state.block, state.passed), set())
        key = (state.threads, id(state.assumed))
        if key not in known and len(known) < MAX_PER_BLOCK:
            known.add(key)
            self._queue.append(state)

    def _walk(self, state: _State) -> Witness | None:
        """Run one block: return a witness, or offer the states that leave it."""
        running = [state]
        for point in self._interesting.get(state.block, ()):
            following: dict[object, _State] = {}
            for current in running:
                for result in self._step(point, current):
                    if isinstance(result, Witness):
                        return result
                    if len(following) < MAX_PER_BLOCK:
                        key = (result.passed, result.threads, id(result.assumed))
                        following.setdefault(key, result)
            running = list(following.values())
        for current in running:
            for edge in self._cfg.edges_from(state.block):
                if edge.target != self._cfg.exit:
                    self._follow(edge.target, edge.guard, current)
        return None

    def _follow(self, target: int, guard: Guard | None, state: _State) -> None:
        block = self._cfg.blocks[state.block]
        decides = state.block in self._deciding
        taken: _State | None = state
        if guard is not None:
            taken = self._assume(self._conditions.of(block.last, guard), state, decides)
        if taken is not None:
            assumed = self._live.entering(target, state.block, taken.assumed)
            self._offer(taken._replace(block=target, assumed=assumed))

    @cached_property
    def _deciding(self) -> frozenset[int]:
        """Blocks whose jumps decide whether `then` or a barred point runs, tests of its loops aside."""
        block_of = self._cfg.graph.block_of
        ends = {block_of[point] for point in self._query.then}
        found: set[int] = set()
        work = [block_of[point] for point in self._query.then | self._query.barred]
        while work:
            for dependence in self._cfg.control[work.pop()]:
                if dependence.branch not in found:
                    found.add(dependence.branch)
                    work.append(dependence.branch)
        return frozenset(block for block in found if not self._leaves_loop_around(block, ends))

    def _leaves_loop_around(self, block: int, ends: set[int]) -> bool:
        """Tell whether a block tests the end of a loop around some of the blocks `ends`."""
        around = (loop for loop in self._cfg.loops_around(block) if loop.blocks & ends)
        return any(source == block for loop in around for source, _ in loop.exits)

    def _assume(self, literal: Literal, state: _State, decides: bool) -> _State | None:
        """Return the state when a literal holds, None when it cannot, or not surely."""
        if decides and state.passed != _NOT_YET and not self._conditions.is_sure(state.assumed, literal):
            return None
        threads = state.threads
        if literal.threads is not None:
            threads = literal.threads.bits if threads is None else threads & literal.threads.bits
            if not threads:
                return None
        assumed = self._conditions.assume(state.assumed, literal)
        return None if assumed is None else state._replace(threads=threads, assumed=assumed)

    def _step(self, point: int, state: _State) -> Iterator[_State | Witness]:
        """Yield what follows an interesting point: it runs, or its guard lets it be skipped."""
        if self._cfg.instructions[point].guard is None:
            yield from self._execute(point, state)
            return
        if state.passed == _NOT_YET and not self._begins_or_bars(point) and self._live.decides_nothing(point):
            yield state
            return
        holds, fails = self._conditions.both(point)
        runs = self._assume(holds, state, True)
        if runs is not None:
            for result in self._execute(point, runs):
                yield result if isinstance(result, Witness) else self._behind(point, result)
        skipped = self._assume(fails, state, True)
        if skipped is not None:
            yield self._behind(point, skipped)

    def _begins_or_bars(self, point: int) -> bool:
        """Tell whether a point does something to a path that has not passed `first`."""
        return point in self._query.barred_before or point in (self._query.first or ())

    def _behind(self, point: int, state: _State) -> _State:
        assumed = self._live.behind(point, state.assumed)
        return state if assumed is state.assumed else state._replace(assumed=assumed)

    def _may_come_again(self, point: int) -> bool:
        """Tell whether a path may pass a point and begin later: always, but at a point of `first` in no loop."""
        return point not in (self._query.first or ()) or self._cfg.loop_of(point) is not None

    def _execute(self, point: int, state: _State) -> Iterator[_State | Witness]:
        query = self._query
        if state.passed == _NOT_YET:
            if point in (query.first or ()):
                yield state._replace(passed=point)
            if point not in query.barred_before and self._may_come_again(point):
                yield state
            return
        if point in query.then:
            yield Witness(None if state.passed == _ENTRY else state.passed, point)
        elif point not in query.barred:
            yield state


__all__ = ["Paths", "Query", "Witness"]
