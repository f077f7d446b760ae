"""Hosts that runs are made with in which next to nothing is left open: is what may go wrong in others possible?

Where roles look for their work in loops that read tables of the host, or compute it by products and divisions of
parameters, nobody can tell from the decisions of a run whether there are such tables and parameters. A run in which
these are numbers is certainly possible; what goes wrong in it, and may in others, does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TypeAlias

from ...model.outcome import Step
from ...symex.interpreter.host import Choice, Host
from ...symex.interpreter.options import Took
from ...symex.slice.grid_position import placed_branches
from ...symex.slice.layout import Layout
from ...symex.slice.parameter_kinds import ParameterKinds
from ...symex.slice.sliced_program import Program
from ...symex.values.approximated_terms import inputs_of
from ...symex.values.substitution import with_pins
from ...symex.values.symbol import Atom, Form
from ...symex.values.trace import Shape
from ..evidence import Run
from .paths import Plan, Rounds

Kinds: TypeAlias = Callable[[], ParameterKinds]
"""Returns what a kernel takes its parameters for: only asked when a run is made."""
_Work: TypeAlias = tuple[int, int, int, int]
_WORK = ((256, 64, 16, 1), (1024, 128, 64, 2), (2048, 256, 64, 4), (64, 64, 128, 8))
"""Sizes, a divisor, how many tiles there are, and how many of these a CTA has."""
_VARIED = _WORK[1:2]
_FEW = ((2, 64, 16, 1),)
"""The same where the product of some sizes, as those of a filter, is how often something is done."""
_APART = 64
"""How far numbers of a host are apart at least where they are to differ."""

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

    def sides(self) -> frozenset[tuple[int, int, bool]]:
        """Return which sides of branches some threads of each CTA took."""
        return frozenset((rank, *side) for rank, taken in self._taken.items() for side in taken)

    def has_empty(self, sizes: Iterable[Atom], layout: Layout) -> bool:
        """Tell whether one of some sizes that parameters make is below one: the kernel may not be meant for it."""
        return any(number is not None and number < 1 for number in map(partial(self._number, layout), sizes))

    def _number(self, layout: Layout, name: Atom) -> int | None:
        """Return what is computed from parameters, None where something else is."""
        known: dict[Atom, int] = {}
        for each in inputs_of(name):
            number = self._input(each, layout)
            if number is not None:
                known[each] = number
        value = with_pins(Form(((name, 1),)), known, 1)
        return _signed(value) if isinstance(value, int) else None

    def _input(self, name: Atom, layout: Layout) -> int | None:
        if name[0] == "param" and name[1] in layout.starts:
            _, parameter, offset, size = name
            assert isinstance(offset, int)
            assert isinstance(size, int)
            return self.host.number(layout.starts[str(parameter)] + offset, size)
        if name[0] == "special":
            register, _, axis = str(name[1]).partition(".")
            return self.host.special(register, "xyz".index(axis)) if axis else None
        return None

    @property
    def is_in_whole_clusters(self) -> bool:
        """Tell whether the CTAs of the cluster took the same sides where these go by their place in the grid."""
        return all(self._agree(one, other) for one, other in combinations(self._taken.values(), 2))

    def _agree(self, one: Counter[tuple[int, bool]], other: Counter[tuple[int, bool]]) -> bool:
        common = {point for point, _ in one} & {point for point, _ in other} & self.placed
        return all(one[point, side] == other[point, side] for point in common for side in (True, False))


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """A run with numbers of a host."""

    run: Run
    example: Example
    steps: tuple[Step, ...]
    """The schedule that was run."""


@dataclass(slots=True)
class Hosts:
    """Hosts that no run was made with yet, and runs that were made with others."""

    left: Iterator[Example]
    with_less: Iterator[Example] = field(default_factory=lambda: iter(()))
    """Hosts that ask for less, where others ask for too much."""
    made: list[ExampleRun] = field(default_factory=list)


def _signed(number: int) -> int:
    """Return a word of 32 or 64 bits as a signed number."""
    return next((number - (1 << bits) for bits in (32, 64) if number >> (bits - 1) == 1), number)


def _form(parameter: Form | int) -> Form:
    assert isinstance(parameter, Form)  # what the user gives is not asked of the host
    return parameter


def examples(program: Program, kinds: Kinds, shape: Shape) -> Iterator[Example]:
    """Yield hosts with some numbers after the other, each for all sizes, and all that is in tables."""
    return _examples(program, kinds, shape, [(work, 0) for work in _WORK])


def few_examples(program: Program, kinds: Kinds, shape: Shape) -> Iterator[Example]:
    """Yield hosts with sizes that are small: not all kernels are meant for them."""
    return _examples(program, kinds, shape, [(work, 0) for work in _FEW])


def varied_examples(program: Program, kinds: Kinds, shape: Shape) -> Iterator[Example]:
    """Yield hosts of which no two numbers are the same: no role knows one by another, and each may be the larger."""
    return _examples(program, kinds, shape, [(work, step) for work in _VARIED for step in (_APART, -_APART)])


def _examples(
    program: Program, kinds: Kinds, shape: Shape, choices: Sequence[tuple[_Work, int]]
) -> Iterator[Example]:
    placed = placed_branches(program) if shape.ctas > 1 else frozenset[int]()
    for (size, divisor, tiles, each), step in choices:
        grid = (max(tiles // each // shape.ctas, 1), 1, 1)
        choice = Choice(size, tiles, divisor, grid, step)
        yield Example(Host(kinds(), choice, shape), Plan(Rounds(each, each)), placed)
