"""The numbers that variables have at the nodes of an automaton.

Property: `Variables.moved` gives the numbers that the variables have behind an edge, and `variants` names every
combination of numbers with which threads may come to the events of a node.

Argument: the stage and the phase of a ring are numbers that each thread computes from what they were before, so a
register file of a few numbers beside the node says as much as a node for each combination, of which there are as many
as the product of the lengths of all rings. A variable is a symbol at the header of its loop: what is computed from
variables alone is a number once they are. Variables are kept only where something ahead reads them (backward
analysis over the nodes). Those that are computed from one another, or decide one branch, are one component; each
component is explored by itself, with branches on others open, so `variants` may have more than a run comes to.

Not covered: numbers that are negative, or differ between the threads of a group: `NumbersNeededError` asks for nodes
that tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from ..symex.values.substitution import with_pins
from ..symex.values.symbol import VARYING, Atom, Form, Value
from ..symex.values.trace import OFFSETS, SHARED_WINDOW, Event, NotFollowedError
from .likeness import Followed, Likeness, Seen, Sight
from .nodes import Node
from .variables import LARGEST, Component, Env, NumbersNeededError, is_of_variables, values_of, variables_in

_MOST_NUMBERS = 256
"""Combinations of the variables of one component at one node: two stages with their phases, of 16 numbers each."""
_MOST_VARIANTS = 256
"""Combinations of all variables that the events of one node depend on."""


class Variables:
    """The variables of one automaton."""

    def __init__(self, nodes: Sequence[Node], entry: int, threads: int) -> None:
        """Find where variables are live, and which numbers they have. Raises NumbersNeededError, NotFollowedError."""
        self._nodes = nodes
        self._threads = threads
        self._read = [_read_by(node) for node in nodes]
        self.live = _live(nodes, self._read)
        """Variables that are live at each node."""
        self._position = [{name: at for at, name in enumerate(live)} for live in self.live]
        self._moved: dict[tuple[int, int, Env], Env] = {}
        self._truths: dict[tuple[int, Env], bool] = {}
        self._behind: dict[tuple[int, Component, Env], tuple[Followed, ...]] = {}
        self._component = _components(nodes)
        self._numbers: dict[tuple[int, Component], set[tuple[tuple[Atom, int], ...]]] = {}
        self._likeness: Likeness | None = None
        self._choices: dict[tuple[int, Env], bool] = {}
        self._owned = [_by_component(live, self._component) for live in self.live]
        self._positions_of = [
            tuple(
                (component, tuple(position[name] for name in names))
                for component, names in sorted(owned.items())
            )
            for owned, position in zip(self._owned, self._position, strict=True)
        ]
        if self.live[entry]:
            raise NumbersNeededError(self.live[entry])
        self._entry = entry
        self._seen: dict[Component, Seen] = {}
        for component in sorted(set(self._component.values())):
            self._explore(component, entry)

    @property
    def are_any(self) -> bool:
        """Tell whether there are variables."""
        return bool(self._component)

    def merged(self, sights: Sequence[Sight]) -> Variables:
        """Return variables of which some numbers stand for all with which a strand does the same from a node on."""
        found = copy(self)
        found._likeness = Likeness(self._nodes, self._entry, self._threads, self._seen, self.own, sights)
        found._moved, found._behind, found._choices = {}, {}, {}
        return found

    @property
    def places(self) -> int:
        """How many nodes threads come to, counted for each row of numbers of a component there."""
        return sum(map(len, (self._seen if self._likeness is None else self._likeness.seen).values()))

    @property
    def passed(self) -> frozenset[int]:
        """Nodes at which it does not matter to be: nothing happens, and all that is behind them is alike."""
        return frozenset() if self._likeness is None else self._likeness.passed

    def is_reached(self, node: int) -> bool:
        """Tell whether threads come to a node with some numbers, as far as each component tells."""
        return self._likeness is None or self._likeness.is_reached(node)

    def moved(self, node: int, which: int, env: Env) -> Env:
        """Return the numbers behind an edge: the `which`-th target of a node."""
        target = self._nodes[node].targets[which]
        live = self.live[target.node]
        if not live:
            return ()
        key = node, which, env
        found = self._moved.get(key)
        if found is None:
            pins = dict(zip(self.live[node], env, strict=True))
            assigned = dict(target.assigned)
            found = self._moved[key] = self._standing_for(
                target.node,
                tuple(
                    self._number(assigned[name], pins, name) if name in assigned else pins[name]
                    for name in live
                ),
            )
        return found

    def is_choice(self, node: int, env: Env) -> bool:
        """Tell whether it matters to what threads do which target of a node they go to."""
        found = self._choices.get((node, env))
        if found is None:
            targets = self._nodes[node].targets
            behind = [(each.node, self.moved(node, at, env)) for at, each in enumerate(targets)]
            found = self._choices[node, env] = (
                self._likeness is None
                or any(each.begun is not None for each in targets)
                or not self._likeness.are_alike([self._in_sight_of_each(*each) for each in behind])
            )
        return found

    def truth(self, node: int, env: Env) -> bool:
        """Return the answer to the question of a node that asks about variables."""
        key = node, env
        found = self._truths.get(key)
        if found is None:
            question = self._nodes[node].question
            assert question is not None
            pins = dict(zip(self.live[node], env, strict=True))
            found = self._truths[key] = bool(self._number(question.truth, pins) & 1)
        return found

    def variant(self, node: int, env: Env) -> Env:
        """Return the numbers of those variables that the events of a node depend on."""
        at = self._position[node]
        return tuple(env[at[name]] for name in self._read[node])

    def variants(self, node: int) -> Iterator[Env]:
        """Yield all that `variant` may give for a node. Raises NotFollowedError."""
        names = self._read[node]
        columns: list[list[dict[Atom, int]]] = []
        for component in sorted({self._component[name] for name in names}):
            rows = {
                tuple((name, number) for name, number in row if name in names)
                for row in self._numbers.get((node, component), ())
            }
            columns.append([dict(row) for row in sorted(rows, key=lambda row: [n for _, n in row])])
        if prod(map(len, columns)) > _MOST_VARIANTS:
            raise NotFollowedError("an instruction names more places than are followed", self._point(node))
        for chosen in product(*columns):
            pins = {name: number for row in chosen for name, number in row.items()}
            yield tuple(pins[name] for name in names)

    def components(self, node: int) -> tuple[tuple[Component, tuple[int, ...]], ...]:
        """Return the components of the variables that are live at a node, with the positions of these."""
        return self._positions_of[node]

    def read_at(self, node: int) -> tuple[int, ...]:
        """Return the positions, among those that are live, of the variables that the events of a node depend on."""
        return tuple(self._position[node][name] for name in self._read[node])

    def behind(self, node: int, component: Component, row: Env) -> tuple[Followed, ...]:
        """Return which edges threads may take with some numbers of a component: target, its node, the numbers there."""
        found = self._behind.get((node, component, row))
        if found is None:
            likeness = self._likeness
            found = self._behind[node, component, row] = tuple(
                self._followed(node, component, row)
                if likeness is None
                else likeness.behind(node, component, row)
            )
        return found

    def _followed(self, node: int, component: Component, row: Env) -> Iterator[Followed]:
        pins = dict(zip(self.own(node, component), row, strict=True))
        for which in self._taken(self._nodes[node], component, pins):
            target = self._nodes[node].targets[which]
            assigned = dict(target.assigned)
            then = tuple(
                self._number(assigned[name], pins, name) if name in assigned else pins[name]
                for name in self.own(target.node, component)
            )
            yield which, target.node, then

    def own(self, node: int, component: Component) -> tuple[Atom, ...]:
        """Return the variables of a component that are live at a node."""
        return self._owned[node].get(component, ())

    def events(self, node: int, variant: Env) -> tuple[Event, ...]:
        """Return the events of a node with numbers for what they depend on."""
        pins = dict(zip(self._read[node], variant, strict=True))
        events = self._nodes[node].events
        return tuple(self._with_numbers(event, pins) for event in events) if pins else events

    def _with_numbers(self, event: Event, pins: Mapping[Atom, int]) -> Event:
        def put_in(value: Value) -> Value:
            is_open = isinstance(value, Form) and value.origin & VARYING
            return with_pins(value, pins, self._threads) if is_open and isinstance(value, Form) else value

        access = event.access
        if access is not None and access.address is not None:
            access = replace(access, address=_offset(put_in(access.address)))
        return replace(
            event, operands={name: put_in(value) for name, value in event.operands.items()}, access=access
        )

    def _in_sight_of_each(self, node: int, env: Env) -> dict[Component, tuple[int, Env]]:
        """Return a node with the numbers of each component there."""
        at = dict(self._positions_of[node])
        return {each: (node, tuple(env[position] for position in at.get(each, ()))) for each in self._seen}

    def _standing_for(self, node: int, env: Env) -> Env:
        """Return the numbers that stand for all with which threads do the same from a node on."""
        if self._likeness is None:
            return env
        found = list(env)
        for component, positions in self._positions_of[node]:
            row = self._likeness.row(node, component, tuple(env[at] for at in positions))
            for at, number in zip(positions, row, strict=True):
                found[at] = number
        return tuple(found)

    def _number(self, value: int | Form, pins: Mapping[Atom, int], *assigned: Atom) -> int:
        """Return the number that a value is, of a variable that is assigned. Raises NumbersNeededError."""
        found = with_pins(value, pins, self._threads) if isinstance(value, Form) else value
        if not isinstance(found, int) or not 0 <= found < LARGEST:
            raise NumbersNeededError(variables_in(value) or assigned)
        return found

    def _point(self, node: int) -> int:
        events = self._nodes[node].events
        return events[0].point if events else -1

    def _explore(self, component: Component, entry: int) -> None:
        """Find the numbers that the variables of a component have, at each node."""
        waiting: list[tuple[int, Env]] = [(entry, ())]
        seen: dict[tuple[int, Env], tuple[Followed, ...]] = {}
        rows: dict[int, set[Env]] = {entry: {()}}
        while waiting:
            number, env = waiting.pop()
            seen[number, env] = tuple(self._followed(number, component, env))
            for _, target, then in seen[number, env]:
                known = rows.setdefault(target, set())
                if then not in known:
                    known.add(then)
                    waiting.append((target, then))
                    if len(known) > _MOST_NUMBERS:
                        raise NumbersNeededError(_varying_most(self.own(target, component), known))
        self._seen[component] = seen
        for number, env in seen:
            if env:
                pins = zip(self.own(number, component), env, strict=True)
                self._numbers.setdefault((number, component), set()).add(tuple(pins))

    def _taken(self, node: Node, component: Component, pins: Mapping[Atom, int]) -> Sequence[int]:
        """Return which edges threads may take: both where a question is not about a component."""
        question = node.question
        if question is None or not pins or not is_of_variables(question.truth):
            return range(len(node.targets))
        if {self._component[name] for name in variables_in(question.truth)} != {component}:
            return range(len(node.targets))
        return (0 if self._number(question.truth, pins) & 1 else 1,)


def _offset(address: Value) -> Value:
    """Return the offset in shared memory of an address, which may be a generic one."""
    if isinstance(address, int):
        return address & OFFSETS if address & SHARED_WINDOW else address
    if isinstance(address, np.ndarray) and bool((address & np.uint64(SHARED_WINDOW)).any()):
        return np.bitwise_and(address, np.uint64(OFFSETS))
    return address


def _varying_most(names: Sequence[Atom], numbers: Iterable[Env]) -> list[Atom]:
    columns = [len(set(column)) for column in zip(*numbers, strict=True)]
    most = max(columns)
    return [name for name, count in zip(names, columns, strict=True) if count == most]


def _read_by(node: Node) -> tuple[Atom, ...]:
    """Return the variables that the events of a node depend on."""
    found = {name for value in values_of(node.events) for name in variables_in(value)}
    return tuple(sorted(found, key=lambda name: name.digest))


def _live(nodes: Sequence[Node], read: Sequence[Sequence[Atom]]) -> list[tuple[Atom, ...]]:
    """Return the variables that something ahead of each node reads before they get other numbers."""
    own = [set(names) for names in read]
    for node in nodes:
        if node.question is not None:
            own[node.number].update(variables_in(node.question.truth))
    before: dict[int, list[int]] = {}
    for node in nodes:
        for target in node.targets:
            before.setdefault(target.node, []).append(node.number)
    live = [set(names) for names in own]
    waiting = [node.number for node in nodes]
    while waiting:
        number = waiting.pop()
        now = set(own[number])
        for target in nodes[number].targets:
            assigned = dict(target.assigned)
            for name in live[target.node]:
                now.update(variables_in(assigned[name]) if name in assigned else (name,))
        if now != live[number]:
            live[number] = now
            waiting += before.get(number, ())
    return [tuple(sorted(names, key=lambda name: name.digest)) for names in live]


def _by_component(
    live: Sequence[Atom], component: Mapping[Atom, Component]
) -> dict[Component, tuple[Atom, ...]]:
    found: dict[Component, tuple[Atom, ...]] = {}
    for name in live:
        found[component[name]] = (*found.get(component[name], ()), name)
    return found


def _components(nodes: Sequence[Node]) -> dict[Atom, Component]:
    """Return a number for each variable, equal for those that depend on one another."""
    above: dict[Atom, Atom] = {}

    def root(name: Atom) -> Atom:
        while above.setdefault(name, name) is not name:
            name = above[name]
        return name

    def unite(names: Sequence[Atom]) -> None:
        for name in names:
            above[root(name)] = root(names[0])

    for node in nodes:
        unite(variables_in(node.question.truth) if node.question is not None else ())
        for name in _read_by(node):
            root(name)
        for target in node.targets:
            for name, value in target.assigned:
                unite((name, *variables_in(value)))
    numbers: dict[Atom, int] = {}
    return {
        name: numbers.setdefault(root(name), len(numbers)) for name in sorted(above, key=lambda n: n.digest)
    }


__all__ = ["Component", "Env", "Variables"]
