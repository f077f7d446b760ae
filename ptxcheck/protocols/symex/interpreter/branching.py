"""Which side of a branch each thread takes.

Property: the sides of a branch part the threads that come to it, and each thread goes where its guard, or the index of
its jump table, leads, by what is decided of open predicates.

Argument: known truths are taken thread by thread; an open predicate is decided only where a side records an event or
ends threads, and else both sides are run and joined. A side that aborts the grid before it synchronises is never
taken: a grid that is aborted does not hang.

Not covered: jumps whose targets are not known, and indices of jump tables that are symbols: the run is not followed.
"""

from __future__ import annotations

import numpy as np

from ....cfg.graph import Edge, EdgeKind
from ..values.approximated_terms import numbers_wanted
from ..values.register_file import set_of
from ..values.symbol import Form
from ..values.trace import NotFollowedError, ThreadSet
from .cta import Cta
from .state_merging import UndecidedBranches


class Branches:
    """The branches of one CTA."""

    def __init__(self, cta: Cta, undecided: UndecidedBranches) -> None:
        self._cta = cta
        self._program = cta.program
        self._decider = cta.decider
        self._undecided = undecided

    def sides(
        self, block: int, edges: tuple[Edge, ...], threads: ThreadSet, point: int
    ) -> list[tuple[Edge, ThreadSet]] | None:
        """Return the threads that take each edge out of a block; None when both sides were run and joined."""
        if any(edge.cases for edge in edges):
            return self._table_sides(edges, threads, point)
        guarded = [edge for edge in edges if edge.guard is not None]
        if not guarded or any(edge.kind is EdgeKind.UNKNOWN for edge in edges):
            raise NotFollowedError("jump whose targets are not known", point)
        first = guarded[0]
        other = next(edge for edge in edges if edge is not first)
        assert first.guard is not None
        taken: ThreadSet = 0
        opened: list[tuple[ThreadSet, Form]] = []
        acting = point if self._program.regions.of(block).acts else -1
        self._cta.note_partly_written(first.guard.register, threads, point)
        for held, truth in self._cta.operands.truths(first.guard, threads):
            known = self._decider.known(truth, held, acting)
            if known is None:
                assert isinstance(truth, Form)
                opened.append((held, truth))
            else:
                taken |= known
        if self._passes(block, first, other, opened, threads):
            together = sum(held for held, _ in opened)
            if together == threads:
                return None
            taken |= together if first.target == self._program.regions.join(block) else 0
            opened = []
        doomed = self._program.doomed
        for held, truth in opened:
            if other.target in doomed or first.target in doomed:
                if first.target not in doomed:
                    taken |= held
                continue
            taken |= self._decider.decide(truth, held, point, self._loop_side(block, first, other))
        sides = [(e, t) for e, t in ((first, taken), (other, threads & ~taken)) if t]
        if not self._decider.speculative:
            is_open = point in self._program.regions.open_branches
            for edge, _ in sides:
                self._cta.options.took(point, edge is first, is_open)
        return sides

    def _passes(
        self, block: int, first: Edge, other: Edge, opened: list[tuple[ThreadSet, Form]], threads: ThreadSet
    ) -> bool:
        """Run both sides of a branch for threads whose predicate is open; False where it has to be decided.

        Those that it is known for go on by themselves, so there has to be a side that comes to the join at once.
        """
        if not opened or self._program.regions.of(block).acts:
            return False
        join = self._program.regions.join(block)
        if join not in (first.target, other.target) and opened[0][0] != threads:
            return False
        for held, truth in opened:
            self._undecided.join(block, first, other, held, truth)
        return True

    def _loop_side(self, block: int, first: Edge, other: Edge) -> bool | None:
        """Return the truth of the guard for which a branch stays in the innermost loop, None for other branches."""
        loops = self._program.cfg.loops_around(block)
        if not loops:
            return None
        inside, outside = first.target in loops[0].blocks, other.target in loops[0].blocks
        return inside if inside != outside else None

    def _table_sides(
        self, edges: tuple[Edge, ...], threads: ThreadSet, point: int
    ) -> list[tuple[Edge, ThreadSet]]:
        index = self._decider.concrete(
            self._cta.operands.value(self._program.cfg.instructions[point].operands[0], threads),
            threads,
            point,
        )
        if isinstance(index, Form):
            self._decider.halt_at(index)
            text = f"jump table with an index that is not known: {index}"
            raise NotFollowedError(text, point, options=numbers_wanted(index.terms))
        found: list[tuple[Edge, ThreadSet]] = []
        for edge in edges:
            if isinstance(index, int):
                taken = threads if index in edge.cases else 0
            else:
                taken = set_of(np.isin(index, edge.cases)) & threads
            if taken:
                found.append((edge, taken))
        if sum(taken for _, taken in found) != threads:
            raise NotFollowedError("jump table with an index that is behind its end", point)
        return found
