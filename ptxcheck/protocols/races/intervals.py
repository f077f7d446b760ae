"""Barrier intervals: what a thread may do between one meeting and the next, and under which condition.

Property: whatever a thread executes after it has come out of the meeting at `start` (None: since the entry) and
before it comes to another one, it executes as a `Visit` of the interval, in the rounds of its context.

Argument: paths from the start that stop at meetings. A loop with a meeting is gone through once more at most before
one (`Round.NEXT`); where it can be gone through again without one, and in loops that have none, a visit stands for
some round. Each visit is of one block and one context; those form a graph without circles.

Not covered: regions that are circular without being loops; `intervals` gives none then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...cfg import Cfg, Edge, EdgeKind, Uniformity
from ...terms.bitvectors import Bits
from ...terms.effort import Work
from .kernel import Kernel
from .meetings import Meetings
from .passages import Context, Passage, Round
from .repetition import has_gone_round
from .thread_terms import ThreadTerms

_MOST_VISITS = 4000


@dataclass(frozen=True, slots=True)
class Visit:
    """A block in the rounds of a context; the first one of an interval begins behind its meeting."""

    block: int
    context: Context
    first: bool = False


class TooManyVisitsError(Exception):
    """An interval has more visits than are looked at."""


class Interval:
    """The visits between one meeting and the next."""

    def __init__(self, kernel: Kernel, meetings: Meetings, start: int | None) -> None:
        self._kernel = kernel
        self._cfg: Cfg = kernel.cfg
        self._meetings = meetings
        self.start = start
        self._reached: dict[ThreadTerms, dict[Visit, Bits]] = {}

    @cached_property
    def first(self) -> Visit:
        block = self._cfg.order[0] if self.start is None else self._cfg.graph.block_of[self.start]
        return Visit(block, self.around(block), first=True)

    def around(self, block: int) -> Context:
        """Return the rounds in which a thread is in a block when the loops around it that meet hold theirs."""
        context = Context()
        for loop in self._cfg.loops_around(block):
            round_ = Round.HELD if loop.index in self._held else Round.ANY
            context = context.within(loop.index, Passage(round_))
        return context

    @cached_property
    def _held(self) -> frozenset[int]:
        """Loops that meet in each round."""
        found = set()
        for loop in self._cfg.loops:
            stops = {self._cfg.graph.block_of[p] for p in self._meetings.points}
            if not self._is_cyclic_without(loop.header, loop.blocks, stops):
                found.add(loop.index)
        return frozenset(found)

    def _is_cyclic_without(self, header: int, blocks: frozenset[int], stops: set[int]) -> bool:
        seen: set[int] = set()
        work = [] if header in stops else [header]
        while work:
            for target in self._cfg.successors[work.pop()]:
                if target == header:
                    return True
                if target in blocks and target not in stops and target not in seen:
                    seen.add(target)
                    work.append(target)
        return False

    def points(self, visit: Visit) -> range:
        """Return the points of a visit, up to the meeting that ends it."""
        block = self._cfg.blocks[visit.block]
        begin = self.start + 1 if visit.first and self.start is not None else block.start
        end = next((point for point in range(begin, block.end) if point in self._meetings.points), block.end)
        return range(begin, end)

    def _goes_on(self, visit: Visit) -> bool:
        return self.points(visit).stop == self._cfg.blocks[visit.block].end

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """All visits, each before those that it leads to."""
        finished: list[Visit] = []
        seen = {self.first}
        stack: list[tuple[Visit, Iterator[tuple[Edge, Visit]]]] = [(self.first, iter(self.after[self.first]))]
        while stack:
            visit, left = stack[-1]
            step = next(left, None)
            if step is None:
                stack.pop()
                finished.append(visit)
            elif step[1] not in seen:
                seen.add(step[1])
                stack.append((step[1], iter(self.after[step[1]])))
        return tuple(reversed(finished))

    @property
    def ends(self) -> Iterator[int | None]:
        """Yield the meetings that end the interval; None for the end of the thread."""
        for visit in self.visits:
            if not self._goes_on(visit):
                yield self.points(visit).stop
            elif any(edge.target == self._cfg.exit for edge in self._cfg.edges_from(visit.block)):
                yield None

    def may_end(self, terms: ThreadTerms) -> bool:
        """Tell whether a thread may come to a meeting or its end: not where the kernel asserts what does not hold."""
        reached, exit_ = self.reached(terms), self._cfg.exit
        for visit in self.visits:
            edges = self._cfg.edges_from(visit.block)
            ends = not self._goes_on(visit) or any(
                edge.target == exit_ and edge.kind is not EdgeKind.TRAP for edge in edges
            )
            if ends and reached[visit] is not terms.pool.false:
                return True
        return False

    @cached_property
    def after(self) -> dict[Visit, tuple[tuple[Edge, Visit], ...]]:
        """The edges out of each visit, with where they lead."""
        found: dict[Visit, tuple[tuple[Edge, Visit], ...]] = {}
        work = [self.first]
        while work:
            visit = work.pop()
            if visit in found:
                continue
            self._kernel.effort.spend(Work.LOWERING)
            if len(found) > _MOST_VISITS or self._kernel.effort.is_over:
                raise TooManyVisitsError
            found[visit] = tuple(self._steps(visit)) if self._goes_on(visit) else ()
            work.extend(target for _, target in found[visit])
        return found

    def _steps(self, visit: Visit) -> Iterator[tuple[Edge, Visit]]:
        for edge in self._cfg.edges_from(visit.block):
            if edge.target == self._cfg.exit or edge.kind is EdgeKind.TRAP:
                continue
            context = self._entered(visit, edge)
            if context is not None:
                yield edge, Visit(edge.target, context)

    def _entered(self, visit: Visit, edge: Edge) -> Context | None:
        """Return the rounds behind an edge; None where they are among those that another visit stands for."""
        loop = self._kernel.headers.get(edge.target)
        if loop is None:
            return visit.context
        inside = frozenset(each.index for each in self._cfg.loops if each.header in loop.blocks) - {
            loop.index
        }
        if edge.source not in loop.blocks:
            meets = self._meetings.meets_in(loop)
            return visit.context.within(loop.index, Passage(Round.FIRST if meets else Round.ANY), inside)
        passage = visit.context.of(loop.index)
        if passage is None or (passage.round is Round.ANY and passage != self.first.context.of(loop.index)):
            return None
        if passage.round in (Round.NEXT, Round.ANY):
            return visit.context.within(loop.index, Passage(Round.ANY, visit.context), inside)
        return visit.context.within(loop.index, Passage(Round.NEXT, visit.context), inside)

    def reached(self, terms: ThreadTerms) -> dict[Visit, Bits]:
        """Return under which condition a thread that has begun the interval makes each visit."""
        if terms not in self._reached:
            self._reached[terms] = self._found_reached(terms)
        return self._reached[terms]

    def _found_reached(self, terms: ThreadTerms) -> dict[Visit, Bits]:
        pool = terms.pool
        begun = terms.arrives(self.first.block, self.first.context)
        for loop in self._cfg.loops_around(self.first.block):
            begun = pool.both(begun, has_gone_round(terms, loop, self.first.context))
        found = {self.first: begun}
        for visit in self.visits:
            here = found[visit]
            for edge, target in self.after[visit]:
                passing = pool.both(here, terms.taken(edge, visit.context))
                entered = self._kernel.headers.get(edge.target)
                if entered is not None:
                    passing = pool.both(passing, has_gone_round(terms, entered, target.context))
                found[target] = pool.either(found.get(target, pool.false), passing)
        return found


def intervals(kernel: Kernel, meetings: Meetings) -> Iterator[Interval]:
    """Yield the intervals of a kernel."""
    for start in (None, *sorted(meetings.points)):
        yield Interval(kernel, meetings, start)


def intervals_of(kernel: Kernel, level: Uniformity, agreed: frozenset[int]) -> tuple[Interval, ...]:
    """Return the intervals between meetings of a block or a warp; `agreed`: branches that all take alike."""
    return kernel.once(
        (intervals_of, level, agreed),
        lambda: tuple(intervals(kernel, Meetings(kernel.facts, level, agreed))),
    )
