"""Which numbers of the variables of one automaton are alike for a strand, and where it does not matter to be.

Property: threads that stand at a node with some numbers do the same from there on as with `Likeness.row` of these.

Argument: bisimulation (`alike_rows`) in the sight of each component of variables, with branches on others open: what is
alike for each of them is alike for all together, as each asks at most what all ask.

Not covered: numbers of several components that are alike together, but not in the sight of each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..symex.values.substitution import with_pins
from ..symex.values.symbol import Atom, Form
from ..symex.values.trace import ThreadSet
from .alike_rows import Class, Standing, Way, classes_of
from .nodes import Node
from .variables import Component, Env, is_of_variables, values_of, variables_in

Followed: TypeAlias = tuple[int, int, Env]
"""An edge that threads may take: which target of a node, its node, and the numbers of a component there."""
Seen: TypeAlias = Mapping[tuple[int, Env], tuple[Followed, ...]]
"""What threads come to with the numbers of one component, and how they go on from there."""
Feasible: TypeAlias = Sequence[frozenset[int]]
"""For each node the targets that threads may go to."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a strand does at one node."""

    node: int
    targets: frozenset[int]
    """Which ones it may go to."""
    is_quiet: bool
    """Whether nothing happens there."""
    varying: tuple[Form, ...]
    """What its events, and what is asked of others, are about that depends on variables."""


def sights_of(nodes: Sequence[Node], entry: int, strand: ThreadSet, feasible: Feasible) -> tuple[Sight, ...]:
    """Return what a strand does at each node that it may come to: `feasible` are the targets of each node."""
    found: dict[int, Sight] = {}
    waiting = [entry]
    while waiting:
        node = nodes[waiting.pop()]
        if node.number not in found:
            targets = feasible[node.number].intersection(node.open_to(strand))
            is_followed = bool(node.stored or node.read or node.received or node.is_last)
            is_quiet = not (is_followed or any(event.threads & strand for event in node.events))
            found[node.number] = Sight(node.number, targets, is_quiet, tuple(_varying_in(node, strand)))
            waiting += [node.targets[which].node for which in targets]
    return tuple(found[number] for number in sorted(found))


class Likeness:
    """The classes of strands that do the same at each node."""

    def __init__(
        self,
        nodes: Sequence[Node],
        entry: int,
        threads: int,
        seen: Mapping[Component, Seen],
        own: Callable[[int, Component], Sequence[Atom]],
        sights: Sequence[Sight],
    ) -> None:
        """`own`: the variables of a component that are live at a node."""
        self._nodes = nodes
        self._sights = {each.node: each for each in sights}
        self._threads = threads
        self._own = own
        self._with_pins: dict[tuple[Form, tuple[int, ...]], Hashable] = {}
        self._rows: dict[tuple[int, Component], dict[Env, tuple[Class, Env]]] = {}
        """For numbers at a node their class, and the least numbers of it there."""
        self.seen = {component: _reached(entry, each, self._sights) for component, each in seen.items()}
        """What threads come to."""
        stopping: set[int] = set()
        for component in seen:
            stopping.update(self._merge(component))
        self.passed = frozenset(node.number for node in nodes) - stopping
        """Nodes at which it does not matter to be: nothing happens, and all that is behind them is alike."""

    def is_reached(self, node: int) -> bool:
        """Tell whether threads come to a node with some numbers, as far as each component tells."""
        return all((node, component) in self._rows for component in self.seen)

    def row(self, node: int, component: Component, row: Env) -> Env:
        """Return the numbers that stand for some numbers of a component at a node: these where no thread has them."""
        found = self._rows.get((node, component), {}).get(row)
        return row if found is None else found[1]

    def are_alike(self, places: Sequence[Mapping[Component, tuple[int, Env]]]) -> bool:
        """Tell whether threads do the same from several nodes on, with some numbers of each component there."""
        found = [
            {
                component: self._rows.get((node, component), {}).get(row)
                for component, (node, row) in each.items()
            }
            for each in places
        ]
        if any(each is None for by_component in found for each in by_component.values()):
            return False
        classes = {tuple(each[0] for each in row.values() if each is not None) for row in found}
        return len(classes) == 1

    def behind(self, node: int, component: Component, row: Env) -> Iterator[Followed]:
        """Yield the edges that threads may take, and where these lead past nodes at which it does not matter to be."""
        seen = self.seen[component]
        for which, target, then in seen.get((node, row), ()):
            at = target, self.row(target, component, then)
            while at[0] in self.passed:
                _, target, then = seen[at][0]
                at = target, self.row(target, component, then)
            yield which, *at

    def _merge(self, component: Component) -> Iterator[int]:
        """Find classes in the sight of one component; yield the nodes at which it matters to be."""
        seen = self.seen[component]
        places = {place: at for at, place in enumerate(seen)}
        found = classes_of(
            [
                Standing(
                    node,
                    self._sights[node].is_quiet,
                    self._named_at(node, component, row),
                    tuple(self._way(node, way, places, is_open=len(ways) > 1) for way in ways),
                )
                for (node, row), ways in seen.items()
            ]
        )
        least: dict[tuple[int, Class], Env] = {}
        for (node, row), each in zip(seen, found.of, strict=True):
            least[node, each] = min(least.get((node, each), row), row)
        for at, ((node, row), each) in enumerate(zip(seen, found.of, strict=True)):
            self._rows.setdefault((node, component), {})[row] = each, least[node, each]
            if at not in found.passed:
                yield node

    def _way(self, node: int, way: Followed, places: Mapping[tuple[int, Env], int], *, is_open: bool) -> Way:
        which, target, then = way
        return Way(which if is_open else -1, places[target, then], self._nodes[node].targets[which].begun)

    def _named_at(self, node: int, component: Component, row: Env) -> tuple[Hashable, ...]:
        """Return what events of a node, and what it asks the host, are with numbers of a component."""
        pins = dict(zip(self._own(node, component), row, strict=True))
        return tuple(self._named(value, pins) for value in self._sights[node].varying) if pins else ()

    def _named(self, value: Form, pins: Mapping[Atom, int]) -> Hashable:
        numbers = tuple(pins.get(name, -1) for name in variables_in(value))
        if -1 in numbers:  # it depends on other components, too
            return numbers
        key = value, numbers
        if key not in self._with_pins:
            found = with_pins(value, pins, self._threads)
            self._with_pins[key] = found if isinstance(found, int | Form) else found.tobytes()
        return self._with_pins[key]


def _reached(entry: int, seen: Seen, sights: Mapping[int, Sight]) -> Seen:
    """Return what threads come to by some targets of nodes alone."""
    found: dict[tuple[int, Env], tuple[Followed, ...]] = {}
    waiting: list[tuple[int, Env]] = [(entry, ())]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found[at] = tuple(way for way in seen[at] if way[0] in sights[at[0]].targets)
            waiting += [(target, then) for _, target, then in found[at]]
    return found


def _varying_in(node: Node, strand: ThreadSet) -> Iterator[Form]:
    """Yield what events of a strand at a node are about, and what is asked there, that depends on variables."""
    question = node.question
    asked = () if question is None or is_of_variables(question.truth) else (question.truth,)
    events = (event for event in node.events if event.threads & strand)
    values = (each for each in (*values_of(events), *asked) if isinstance(each, Form))
    for value in dict.fromkeys(values):
        if variables_in(value):
            yield value


__all__ = ["Feasible", "Followed", "Likeness", "Seen", "Sight", "sights_of"]
