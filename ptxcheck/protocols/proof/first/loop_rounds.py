"""How often loops of open length go round in the runs of a kernel: a few small numbers, and enough for each ring.

A wait for the mbarrier behind the right one is passed a lap too early, which the laps before it may hide. So loops are
taken several times through every stage of their rings (`stages`), and further from each copy of a body that was
unrolled: loops with none inside while those of the tiles go round once, and those of the tiles with one round inside.
Loops without a ring need not go that far.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ....cfg.loops import Loop
from ...model.actions import Protocol
from ...symex.slice.sliced_program import Program
from ...symex.values.substitution import leaves
from ...symex.values.symbol import OF_HOST, Condition
from .paths import Plan, Rounds
from .stages import (
    Points,
    Ring,
    joined,
    stages_of,
)

_FIRST = tuple(map(Rounds, (3, 1, 0, 2, 5)))
_FIRST_NESTED = tuple(
    Rounds(inner, outer)
    for outer, inner in ((2, 3), (1, 1), (3, 1), (2, 0), (0, 0), (1, 2), (2, 2), (1, 5), (3, 5))
)
_BESIDE, _BESIDE_NESTED = tuple(map(Rounds, (5, 0))), (Rounds(5, 3), Rounds(0, 0))
"""Those of runs of a kernel that holds for every count already."""
_FURTHER = tuple(map(Rounds, (4, 8, 7, 16, 17, 33)))
_FURTHER_NESTED = tuple(
    Rounds(inner, outer) for outer, inner in ((2, 4), (1, 8), (4, 2), (8, 1), (2, 17), (17, 2))
)
FEWEST = Rounds(1)
"""A quick look at a kernel."""
_MOST_INNER, _MOST_OUTER = 5, 3
"""Most rounds among the first numbers."""
_LAPS = 3
_DEEPEST = 33
"""Most rounds of a loop that are run for the sake of deep rings."""
LATE = 320
"""Rounds after which counters of 8 bits have wrapped around, and products in place of quotients have few bits left."""
_SHALLOW = 8
"""Rounds, in such a run, of loops that go through no ring."""


class LoopRounds:
    """Rounds of the loops of one kernel, as far as its runs have shown them."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cfg = program.cfg
        self._rings: dict[Points, Ring] = {}
        """By the instructions that act there."""
        self._tile_loops: set[int] = set()
        """Headers of loops that go round as often as one with others inside."""
        depths = (len(program.loops.around(loop.header)) for loop in self._cfg.loops)
        self._is_nested = max(depths, default=0) > 1

    @property
    def first(self) -> Sequence[Rounds]:
        """Return numbers for all kernels: pairs where an acting loop has another one inside."""
        return _FIRST_NESTED if self._is_nested else _FIRST

    @property
    def beside(self) -> Sequence[Rounds]:
        """Return numbers for a kernel that is shown for every count: the most and the fewest of the first ones."""
        return _BESIDE_NESTED if self._is_nested else _BESIDE

    @property
    def late(self) -> Sequence[Rounds]:
        """Return many rounds: of loops inside others, and of those around them."""
        return (Rounds(LATE, 1), Rounds(1, LATE)) if self._is_nested else (Rounds(LATE),)

    def further(self) -> Sequence[Rounds]:
        """Return numbers for sides that the first ones do not lead to: bodies that a compiler unrolled.

        Loops that share tiles with one with others inside go round as often as that one.
        """
        if not self._is_nested:
            return _FURTHER
        headers = sorted(self._tile_loops)
        return tuple(
            Rounds(rounds.inner, rounds.outer, tuple((header, rounds.outer or 0) for header in headers))
            for rounds in _FURTHER_NESTED
        )

    def note(self, plan: Plan, protocol: Protocol) -> None:
        """Note the rings of a run, and loops that share their tiles."""
        self._rings = joined((*self._rings.items(), *stages_of(protocol).items()))
        self._note_tile_loops(plan)

    def deep(self, recorded: AbstractSet[int]) -> list[Rounds]:
        """Return numbers that take loops through every stage of their rings, when the first ones do not.

        `recorded` are the synchronising instructions that runs have come to.
        """
        needed = self._needed()
        inner = max((n for header, n in needed.items() if not self._is_outer(header)), default=0)
        outer = max((n for header, n in needed.items() if self._is_outer(header)), default=0)
        found = []
        if inner > _MOST_INNER:
            known = self._known_loops(recorded)
            enough = {header: min(_SHALLOW, inner) for header in known - needed.keys()}
            enough.update((header, 1) for header in self._tile_loops)
            found.append(Rounds(inner, 1 if self._is_nested else None, tuple(sorted(enough.items()))))
        if outer > _MOST_OUTER:
            found.append(Rounds(1, outer, tuple((header, outer) for header in sorted(self._tile_loops))))
        return found

    def _needed(self) -> dict[int, int]:
        """Return the rounds that the rings of loops take, by header; one of an inner loop is none of an outer loop."""
        needed: dict[int, int] = {}
        for points, ring in self._rings.items():
            more = 2 * ring.copies if ring.copies > 1 else 0
            rounds = min(_LAPS * ring.stages + 1 + more, _DEEPEST)
            headers = {self._loop_around(point) for point in points} - {-1}
            for header in {each for each in headers if not self._is_outer(each)} or headers:
                needed[header] = max(needed.get(header, 0), rounds)
        return needed

    def _loop_around(self, point: int) -> int:
        """Return the header of the innermost loop around a point that synchronises, -1 when there is none."""
        loops = self._program.loops.around(self._cfg.graph.block_of[point])
        return loops[-1].header if loops else -1

    def _is_outer(self, header: int) -> bool:
        return header in self._program.loops.outer or header in self._tile_loops

    def _known_loops(self, recorded: AbstractSet[int]) -> set[int]:
        """Return the headers of the loops of which the runs have come to all that synchronises."""
        missed = {self._loop_around(point) for point in self._program.events - recorded}
        return {self._loop_around(point) for point in recorded} - missed - {-1}

    def _note_tile_loops(self, plan: Plan) -> None:
        """Note loops that end by the same symbols as one with others inside: roles that share their tiles."""
        loops: dict[object, set[int]] = {}
        answers = zip(plan.made, plan.answers, strict=True)
        conditions: list[tuple[int, Condition]] = [(point, each) for ((point, _), _), (each, _) in answers]
        conditions += ((point, each) for (point, _), (_, each, _) in plan.followed.items())
        for point, condition in conditions:
            around = self._program.loops.around(self._cfg.graph.block_of[point])
            if len(around) == 1 and self._leaves(point, around[0]):
                found = frozenset(leaves(condition.form))
                for key in (found, *(name for name in found if name[0] not in OF_HOST)):
                    loops.setdefault(key, set()).add(around[0].header)
        for together in loops.values():
            if any(map(self._is_outer, together)):
                self._tile_loops |= together

    def _leaves(self, point: int, loop: Loop) -> bool:
        """Tell whether a branch leaves a loop."""
        edges = self._cfg.graph.outgoing[self._cfg.graph.block_of[point]]
        return any(edge.target not in loop.blocks for edge in edges)
