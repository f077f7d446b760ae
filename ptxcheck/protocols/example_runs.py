"""Hosts that runs are made with in which next to nothing is left open: is what may go wrong in others possible?

Where roles look for their work in loops that read tables of the host, or compute it by products and divisions of
parameters, nobody can tell from the decisions of a run whether there are such tables and parameters. A run in which
these are numbers is certainly possible; what goes wrong in it, and may in others, does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from .machine.execute import Took
from .machine.host import Choice, Host
from .machine.layout import Layout
from .machine.parameter_kinds import ParameterKinds, parameter_kinds
from .machine.paths import Plan, Rounds
from .machine.placed import placed_branches
from .machine.program import Program
from .machine.symbol import Atom, Form
from .machine.trace import Shape
from .verification import Run

_WORK = ((256, 64, 1), (1024, 128, 2), (2048, 256, 4))
"""Sizes, the tiles that they are divided into, and how many of these a CTA has."""


_MOST_SHOWN = 16
"""Most parameters that numbers are told of."""


@dataclass(slots=True)
class Example:
    """One host, how often loops go round that nothing of it bounds, and what CTAs do."""

    host: Host
    plan: Plan
    placed: frozenset[int]
    """Branches by the place of a CTA in the grid."""
    _taken: dict[int, Counter[tuple[int, bool]]] = field(default_factory=dict)

    def took(self, rank: int, plan: Plan) -> Took:
        """Return what is told of the sides that threads of a CTA take."""
        taken = self._taken[rank] = Counter[tuple[int, bool]]()

        def took(point: int, holds: bool, is_open_branch: bool) -> None:
            plan.take(point, holds, is_open_branch)
            taken[point, holds] += 1

        return took

    def inputs(self, layout: Layout) -> Iterator[tuple[Atom, int]]:
        """Yield numbers of the host that say what the run is: sizes, and what is in tables."""
        for (offset, size), number in self.host.tables.items():
            (pointer, _), *_ = _form(layout.parameter(offset, 8)).terms
            yield Atom(("load", pointer, 8 * size)), number
        for (offset, size), number in list(self.host.asked.items())[:_MOST_SHOWN]:
            (name, _), *_ = _form(layout.parameter(offset, size)).terms
            yield name, number

    @property
    def is_in_whole_clusters(self) -> bool:
        """Tell whether the CTAs of the cluster took the same sides where these go by their place in the grid."""
        return all(self._agree(one, other) for one, other in combinations(self._taken.values(), 2))

    def _agree(self, one: Counter[tuple[int, bool]], other: Counter[tuple[int, bool]]) -> bool:
        common = {point for point, _ in one} & {point for point, _ in other} & self.placed
        return all(one[point, side] == other[point, side] for point in common for side in (True, False))


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """A run with numbers of a host, and whether roles have read whole numbers from its tables."""

    run: Run
    reads_integers: bool


def _form(parameter: Form | int) -> Form:
    assert isinstance(parameter, Form)  # what the user gives is not asked of the host
    return parameter


def examples(program: Program, layout: Layout, shape: Shape) -> Iterator[Example]:
    """Yield hosts with some numbers after the other."""
    kinds: ParameterKinds = parameter_kinds(program.cfg, program.facts, layout.starts)
    placed = placed_branches(program) if shape.ctas > 1 else frozenset[int]()
    for size, tile, each in _WORK:
        tiles = (size // tile) ** 2
        grid = (max(tiles // each // shape.ctas, 1), 1, 1)
        yield Example(Host(kinds, Choice(size, tiles, tile, grid), shape), Plan(Rounds(each, each)), placed)
